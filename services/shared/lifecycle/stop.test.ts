import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'

/** Returns the source of a program that keeps working until it reads a line, and prints the events of its stop. */
const script = ({ sameSignalMs = 1_000, graceMs = 60_000, before = '' }) => `
  import { pino } from 'pino'
  import { listenForStop } from './services/shared/lifecycle/stop.ts'
  {
    using stop = listenForStop(pino({}, { write: (line) => console.log(JSON.parse(line).msg) }), { sameSignalMs: ${sameSignalMs} })
    const work = new Promise((resolve) => process.stdin.once('data', resolve))
    console.log('up')
    ${before}
    await stop.requested
    stop.bound(${graceMs})
    console.log('draining')
    await work
    process.stdin.destroy()
  }
  console.log('released')`

const start = (options: Parameters<typeof script>[0]) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script(options)], { stdio: 'pipe' })
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(line))
  const said = (line: string) => expect.poll(() => lines, { timeout: 10_000, interval: 5 }).toContain(line)
  return { child, lines, said, ended: once(child, 'close') }
}

it('finishes the work in flight after the first signal, and ends without a failure', async () => {
  const { child, said, lines, ended } = start({})
  await said('up')
  child.kill('SIGTERM')
  await said('draining')
  child.stdin.write('done\n')
  expect(await ended).toEqual([0, null])
  expect(lines).toEqual(['up', 'stopping', 'draining', 'released'])
})

it('counts one Ctrl-C that arrives twice as one request', async () => {
  const { child, said, ended } = start({ sameSignalMs: 60_000 })
  await said('up')
  child.kill('SIGINT')
  await said('draining')
  child.kill('SIGTERM')
  child.stdin.write('done\n')
  expect(await ended).toEqual([0, null])
})

it('ends at once at a second signal', async () => {
  const { child, said, lines, ended } = start({ sameSignalMs: 0 })
  await said('up')
  child.kill('SIGTERM')
  await said('draining')
  child.kill('SIGTERM')
  expect(await ended).toEqual([1, null])
  expect(lines).not.toContain('released')
})

it('ends when the work in flight takes longer than the grace', async () => {
  const { child, said, lines, ended } = start({ graceMs: 50 })
  await said('up')
  child.kill('SIGTERM')
  expect(await ended).toEqual([1, null])
  expect(lines).toEqual(['up', 'stopping', 'draining', 'exiting immediately; calls in flight are lost'])
})

it.each([
  ['an unhandled rejection', 'void Promise.reject(new Error("defect"))'],
  ['an uncaught error', 'setImmediate(() => { throw new Error("defect") })'],
])('stops gracefully after %s, and exits with a failure code', async (_, before) => {
  const { child, said, lines, ended } = start({ before })
  await said('draining')
  child.stdin.write('done\n')
  expect(await ended).toEqual([1, null])
  expect(lines).toEqual(['up', 'stopping: uncaught error', 'draining', 'released'])
})
