import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { startHeartbeat } from './heartbeat.ts'

/** Starts a thread that echoes every message at once. */
const startEcho = () => {
  const echo = new Worker(
    `const { parentPort } = require('node:worker_threads')
    parentPort.on('message', (message) => parentPort.postMessage(message))`,
    { eval: true },
  )
  return {
    ping: async () => {
      echo.postMessage('ping')
      await once(echo, 'message')
    },
    [Symbol.asyncDispose]: async () => void (await echo.terminate()),
  }
}

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it(
  'does not report a server as unavailable if this process was busy when the response arrived',
  { tags: ['long'] },
  async () => {
    await using echo = startEcho()
    const reports: boolean[] = []
    let probes = 0
    const probe = async () => {
      probes++
      setImmediate(block, 1_200)
      await echo.ping()
    }
    await using heartbeat = startHeartbeat(probe, (connected) => reports.push(connected))
    await expect.poll(() => probes).toBe(2)
    await wait(1_500)
    expect(reports).toEqual([])
    expect(heartbeat.connected).toBe(true)
  },
)

it('reports a server that does not respond within a second, and its recovery', async () => {
  const reports: boolean[] = []
  const answer = Promise.withResolvers<void>()
  await using heartbeat = startHeartbeat(
    () => answer.promise,
    (connected) => reports.push(connected),
  )
  await expect.poll(() => reports).toEqual([false])
  expect(() => heartbeat.require()).toThrow('the state store does not answer')
  answer.resolve()
  await expect.poll(() => reports).toEqual([false, true])
})
