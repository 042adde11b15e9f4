import { mkdtemp, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@libsql/client'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { describeWith, startPostgres } from '../../../testing/describe-with.ts'
import { openStore } from '../open.ts'
import { openDatabase } from './connection.ts'
import { formatDatabaseName, describeDatabaseError } from './failure.ts'
import { maxConnections } from './postgres.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchhouse-faults-'))
})
afterAll(() => rm(folder, { recursive: true }))

const open = (url: string) => openStore({ env: { SVC_STATE_DB_URL: url }, busIsShared: false })
const write = (store: Awaited<ReturnType<typeof open>>, text: string) =>
  store.update('key', z.string(), () => ({ value: text }))

/** Creates and closes a database of several pages. */
const makeDatabase = async (name: string): Promise<string> => {
  const path = join(folder, name)
  {
    await using store = await open(`file:${path}`)
    await write(store, 'x'.repeat(200_000))
  }
  // The copy omits the write-ahead log, from which SQLite would restore the truncated part.
  const client = createClient({ url: `file:${path}` })
  await client.execute(`vacuum into '${path}.whole'`)
  client.close()
  return `${path}.whole`
}

describe('a SQLite file that cannot be used', () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    [
      'its folder is missing',
      async () => join(folder, 'nowhere', 'a.db'),
      /the folder ".*nowhere" does not exist; create it/,
    ],
    [
      'it is a folder',
      async () => {
        mkdirSync(join(folder, 'folder.db'))
        return join(folder, 'folder.db')
      },
      /is a folder; name a file in it/,
    ],
    [
      'it holds something else',
      async () => {
        await writeFile(join(folder, 'text.db'), 'hello '.repeat(1_000))
        return join(folder, 'text.db')
      },
      /is not a SQLite database; restore it from a backup/,
    ],
    [
      'it is truncated',
      async () => {
        const path = await makeDatabase('truncated.db')
        await truncate(path, Math.floor((await stat(path)).size / 10))
        return path
      },
      /is damaged or truncated; restore it from a backup/,
    ],
  ])('is reported with its path, the cause and a remedy: %s', async (_, make, sentence) => {
    const path = await make()
    const opening = open(`file:${path}`)
    await expect(opening).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(sentence) })
    await expect(opening).rejects.toThrow(`state database "${path}": `)
  })

  it('is reported while it is missing, and used again without a restart when it is back', async () => {
    const path = await makeDatabase('gone.db')
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) })
    await using store = await openStore({ env: { SVC_STATE_DB_URL: `file:${path}` }, busIsShared: false, log })
    for (const end of ['', '-wal', '-shm']) await rename(path + end, `${path}.away${end}`)
    await waitUntil(() => !store.connected)
    expect(store.problem).toBe(`state database "${path}": the file is gone; restore it, then restart`)
    await expect(store.get('key', z.string())).rejects.toThrow('the file is gone')
    for (const end of ['', '-wal', '-shm']) await rename(`${path}.away${end}`, path + end)
    await waitUntil(() => store.connected)
    expect(store.problem).toBeUndefined()
    expect((await store.get('key', z.string()))?.length).toBe(200_000)
    expect(lines.join('')).toContain('the file is gone')
  })
})

describe('the message of a failure', () => {
  it.each([
    ['postgres://me:secret@db.example:5433/state', 'db.example:5433/state'],
    ['postgres://localhost/one?host=%2Frun%2Fpg&password=secret', '/run/pg/one'],
    ['libsql://db.example?authToken=secret', 'db.example'],
    ['file:/data/state.db', '/data/state.db'],
    [pathToFileURL('/data/with space.db').href, '/data/with space.db'],
  ])('names %s without its secrets', (url, expected) => {
    expect(formatDatabaseName({ url })).toBe(expected)
  })

  it.each([
    ['SQLITE_FULL', /no space left on its disk/],
    ['SQLITE_READONLY', /read-only/],
    ['SQLITE_IOERR', /file size limits/],
    ['53100', /no space left on the disk of the server/],
    ['25006', /connect to the primary/],
    ['53300', /max_connections/],
    ['28P01', /the user or the password/],
    ['3D000', /no such database/],
    ['ECONNREFUSED', /connection refused/],
    ['ENOTFOUND', /unknown host name/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /not signed by a trusted authority/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /for another name/],
    ['CERT_HAS_EXPIRED', /has expired/],
    ['EHOSTUNREACH', /does not answer \(EHOSTUNREACH\)/],
  ])('has a cause and a remedy for %s', (code, sentence) => {
    const error = Object.assign(new Error('secret'), { code })
    const said = describeDatabaseError(error, { kind: 'postgres', url: 'postgres://me:secret@db/one' })
    expect(said).toMatch(sentence)
    expect(said).toMatch(/^state database "db\/one": .*; /)
    expect(said).not.toContain('secret')
  })
})

describeWith(['postgres'], 'a PostgreSQL database whose connections are all in use', () => {
  it('stays available', { tags: ['long'] }, async () => {
    await using server = await startPostgres()
    const where = { kind: 'postgres', url: server.url, token: undefined, tablePrefix: '' } as const
    const changes: boolean[] = []
    await using database = await openDatabase(where, (connected) => changes.push(connected))
    const sleep = () => database.run(() => sql`select pg_sleep(3)`.execute(database.tables([])))
    const outcomes = await Promise.allSettled(Array.from({ length: maxConnections }, sleep))
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'fulfilled'))
    expect(changes).toEqual([])
  })
})

describeWith(['postgres'], 'a PostgreSQL database that takes no writes', () => {
  it(
    'is reported with cause and remedy, stays readable, and becomes writable again without a restart',
    { tags: ['long'] },
    async () => {
      await using server = await startPostgres({ private: true })
      await using store = await open(server.url)
      await write(store, 'before')
      const { default: pg } = await import('pg')
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      const makeReadOnly = async (value: 'on' | 'off') => {
        await client.query(`alter system set default_transaction_read_only = ${value}`)
        await client.query('select pg_reload_conf()')
      }
      try {
        await makeReadOnly('on')
        await waitUntil(() =>
          write(store, 'before').then(
            () => false,
            () => true,
          ),
        )
        await expect(write(store, 'during')).rejects.toThrow(/state database "[^"]+": the server is read-only/)
        expect(store.connected).toBe(true)
        expect(store.problem).toContain('the server is read-only')
        expect(store.problem).not.toContain(new URL(server.url).password || 'no password')
        expect(await store.get('key', z.string())).toBe('before')
      } finally {
        await client.query('set default_transaction_read_only = off')
        await makeReadOnly('off')
        await client.end()
      }
      await waitUntil(() =>
        write(store, 'after').then(
          () => true,
          () => false,
        ),
      )
      expect(await store.get('key', z.string())).toBe('after')
    },
  )
})
