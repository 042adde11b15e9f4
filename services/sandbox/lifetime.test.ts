// @module-tag long
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, it } from 'vitest'
import { curl } from './curl.ts'
import { startSandbox } from './start.ts'

const root = mkdtempSync(join(tmpdir(), 'sandbox-lifetime-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('preserves tables and logs across a restart, even after a kill', async () => {
  const directory = join(root, 'kept')
  {
    await using first = await startSandbox({ directory })
    await curl(first.url, 'CREATE TABLE kept ENGINE = MergeTree ORDER BY x AS SELECT number AS x FROM numbers(10)', {
      query: { query_id: 'before-restart' },
    })
    await curl(first.url, 'SYSTEM FLUSH LOGS')
    process.kill(first.pid, 'SIGKILL')
  }
  await using second = await startSandbox({ directory })
  expect((await curl(second.url, 'SELECT count() FROM kept')).text).toBe('10\n')
  const logged = await curl(second.url, "SELECT uniq(query_id) FROM system.query_log WHERE query_id = 'before-restart'")
  expect(logged.text).toBe('1\n')
  const cpuTime = await curl(
    second.url,
    "SELECT sum(value) > 0 FROM system.asynchronous_metrics WHERE match(metric, '^OS.+Time$')",
  )
  expect(cpuTime.text, 'in the first sample').toBe('1\n')
})

it('removes its temporary directory and leaves no process', async () => {
  let pid = 0
  let path = ''
  {
    await using sandbox = await startSandbox()
    pid = sandbox.pid
    path = (await curl(sandbox.url, 'SELECT path FROM system.disks')).text.trim()
    expect(existsSync(path)).toBe(true)
  }
  expect(existsSync(path)).toBe(false)
  expect(lives(pid)).toBe(false)
})

it('ends when its parent is killed', async () => {
  const program = `import { startSandbox } from ${JSON.stringify(import.meta.resolve('./start.ts'))}
    const { pid } = await startSandbox({ directory: ${JSON.stringify(join(root, 'orphan'))} })
    console.log(pid)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string] // readline's event
  expect(lives(Number(line))).toBe(true)
  parent.kill('SIGKILL')
  await expect.poll(() => lives(Number(line)), { timeout: 8000 }).toBe(false)
})

it('ends when its output has no reader', async () => {
  const words = [join(import.meta.dirname, 'host.ts'), '--directory', join(root, 'unheard'), '--label', 'a', '--seed']
  const host = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  const { stdout } = host
  if (stdout === null) throw new Error('the host has no output')
  await once(createInterface({ input: stdout }), 'line')
  // The pipe is closed, so the host fails to write when seeding ends.
  stdout.destroy()
  await expect.poll(() => lives(host.pid ?? 0), { timeout: 40_000, interval: 200 }).toBe(false)
}, 60_000)

it('stops quickly while statements run and clients are connected', async () => {
  const sandbox = await startSandbox({ directory: join(root, 'busy') })
  const answer = curl(
    sandbox.url,
    'SELECT sleepEachRow(1) FROM numbers(100) SETTINGS function_sleep_max_microseconds_per_block = 0',
  ).catch(() => undefined)
  await expect
    .poll(
      async () =>
        (await curl(sandbox.url, "SELECT count() FROM system.processes WHERE query LIKE 'SELECT sleepEachRow%'")).text,
      { timeout: 10_000 },
    )
    .toBe('1\n')
  const startedAt = performance.now()
  await sandbox[Symbol.asyncDispose]()
  expect(performance.now() - startedAt).toBeLessThan(5000)
  await answer
})

it('reports why it cannot start', async () => {
  const directory = join(root, 'twice')
  await using first = await startSandbox({ directory })
  const refusal: unknown = await startSandbox({ directory }).catch((error: unknown) => error)
  expect(String(refusal)).toContain('Another server instance in same directory')
  expect(String(refusal)).not.toMatch(/^ +at /m)
  expect((await curl(first.url, 'SELECT 1')).text).toBe('1\n')
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await expect(startSandbox({ port })).rejects.toThrow(/exited|in use/)
  taken.close()
})
