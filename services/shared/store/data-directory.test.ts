import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findDataDirectory, openDataDirectory } from './data-directory.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchhouse-data-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const open = (env: Record<string, string>) => {
  const lines: string[] = []
  const variables = openDataDirectory(env, pino({}, { write: (line) => void lines.push(line) }))
  return { variables, lines: lines.map((line): Record<string, unknown> => JSON.parse(line)) }
}

describe('the data directory of a single process', () => {
  it('is created with a database and an encryption key that only its owner can read', () => {
    const path = join(folder, 'a', 'b')
    const { variables, lines } = open({ SVC_DATA_DIRECTORY: path })
    const key = readFileSync(join(path, 'encryption.key'), 'utf8')
    expect(variables).toEqual({
      SVC_STATE_DB_URL: `file://${path}/state.db`,
      CONVERSATIONS_EDGESQL: `file://${path}/state.db`,
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key,
    })
    expect(key).toHaveLength(44)
    for (const name of ['encryption.key', 'state.db']) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600)
    expect(lines.map(({ msg }) => msg)).toEqual([
      'encryption key created; back it up, because stored secrets cannot be read without it',
      'state is kept in SQLite',
    ])
    expect(JSON.stringify(lines)).not.toContain(key)
    expect(open({ SVC_DATA_DIRECTORY: path }).variables).toEqual(variables)
  })

  it('keeps a configured key and conversation store', () => {
    const own = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'k'.repeat(20), CONVERSATIONS_EDGESQL: 'file:other.db' }
    const path = join(folder, 'own-key')
    expect(open({ SVC_DATA_DIRECTORY: path, ...own }).variables).toEqual({
      SVC_STATE_DB_URL: `file://${path}/state.db`,
    })
  })

  it.each([
    [{ NATS_URL: 'nats://bus' }],
    [{ REDIS_URL: 'redis://cache' }],
    [{ SVC_STATE_DB_URL: 'postgres://db/watchhouse' }],
    [{ DATABASE_URL: 'postgres://db/watchhouse' }],
    [{ POSTGRES_HOST: 'db' }],
  ])('is not used with %j', (env) => {
    const path = join(folder, 'unused')
    expect(findDataDirectory({ SVC_DATA_DIRECTORY: path, ...env })).toBeUndefined()
    expect(open({ SVC_DATA_DIRECTORY: path, ...env }).variables).toEqual({})
    expect(() => statSync(path)).toThrow('ENOENT')
  })

  it('is still found after its own variables are set', () => {
    const path = join(folder, 'again')
    const { variables } = open({ SVC_DATA_DIRECTORY: path })
    expect(findDataDirectory({ SVC_DATA_DIRECTORY: path, ...variables })).toMatchObject({ path })
  })

  it('logs that state is kept in memory without one, and warns if it is not writable', () => {
    expect(open({}).lines).toMatchObject([{ level: 30, msg: expect.stringContaining('state is kept in memory') }])
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const { variables, lines } = open({ SVC_DATA_DIRECTORY: join(file, 'below') })
    expect(variables).toEqual({})
    expect(lines).toMatchObject([
      { level: 40, reason: 'ENOTDIR', msg: 'state is kept in memory and lost at the next start' },
    ])
  })

  it('rejects a damaged key instead of replacing it', () => {
    const path = join(folder, 'damaged')
    mkdirSync(path)
    writeFileSync(join(path, 'encryption.key'), 'short')
    expect(() => open({ SVC_DATA_DIRECTORY: path })).toThrow('encryption.key')
  })
})
