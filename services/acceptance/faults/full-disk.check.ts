import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@libsql/client'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { openStore } from '#shared/store/open.ts'
import { retryUntil } from '../../testing/fetch-json.ts'
import { startNats } from '../../testing/describe-with.ts'

const run = promisify(execFile)

/** Mounts a file system of this size and returns its path. Requires root. */
const mountSmall = async (size: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-small-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const disk = join(folder, 'disk')
  await mkdir(disk)
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk])
  onTestFinished(async () => void (await run('umount', ['-l', disk])))
  return disk
}

const openAt = async (path: string) => {
  const store = await openStore({ env: { SVC_STATE_DB_URL: `file:${path}` }, busIsShared: false })
  onTestFinished(() => store[Symbol.asyncDispose]())
  const write = (text: string) => store.update('key', z.string(), () => ({ value: text }))
  const isWritten = () =>
    write('after').then(
      () => true,
      () => false,
    )
  return { store, write, isWritten }
}

const expectFailure = async (write: Promise<unknown>, sentence: string) =>
  expect(write).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(sentence) })

it('names a state database whose disk is full, serves what it holds, and writes again once there is space', async () => {
  const disk = await mountSmall('1m')
  const path = join(disk, 'state.db')
  const { store, write, isWritten } = await openAt(path)
  await write('before')
  const filler = join(disk, 'filler')
  await writeFile(filler, Buffer.alloc(1024 * 1024)).catch(() => {})
  const sentence = `state database "${path}": no space left on its disk; free space there or enlarge the volume`
  await expectFailure(write('x'.repeat(500_000)), sentence)
  expect(store.problem).toBe(sentence)
  expect(store.connected).toBe(true)
  expect(await store.get('key', z.string())).toBe('before')
  await rm(filler)
  await retryUntil(isWritten, (written) => written)
})

it('names a state database that is immutable, and writes again once it is not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-immutable-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'state.db')
  {
    const { write } = await openAt(join(folder, 'first.db'))
    await write('before')
  }
  // A copy of the database that no process has open and that has no write-ahead log.
  const client = createClient({ url: `file:${join(folder, 'first.db')}` })
  await client.execute(`vacuum into '${path}'`)
  client.close()
  await run(process.execPath, ['-e', makeWal, path])
  await run('chattr', ['+i', path])
  onTestFinished(async () => void (await run('chattr', ['-i', path])))
  const { store, write, isWritten } = await openAt(path)
  await expectFailure(write('during'), `state database "${path}": the file is read-only; make the file`)
  expect(await store.get('key', z.string())).toBe('before')
  await run('chattr', ['-i', path])
  await retryUntil(isWritten, (written) => written)
})

it('names a NATS server whose disk is full, and what to do', async () => {
  const disk = await mountSmall('4m')
  const config = `jetstream { store_dir: "${disk}", max_file_store: 10GB }`
  await using server = await startNats({ private: true, config })
  const endpoint = { caller: 'ingest', instance: 'one' } as const
  await using queue = await openNatsQueue({ url: server.url, replicas: 1 }, endpoint)
  const body = 'x'.repeat(100_000)
  const fill = async () => {
    for (let index = 0; index < 60; index++) await queue.publish('inbound.grafana', { id: String(index), body })
  }
  const sentence =
    /^NATS server ".*": .* disk is full; free space on its disk or raise max_file_store .*, then restart it$/
  await expect(fill()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(sentence) })
  expect(queue.problem).toMatch(sentence)
})

/** A script that enables the write-ahead log. It runs in a separate process, whose exit closes the file. */
const makeWal = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[1])
  database.exec('pragma journal_mode = wal')
  database.close()
`
