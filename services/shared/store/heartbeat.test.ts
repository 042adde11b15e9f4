import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { startHeartbeat } from './heartbeat.ts'

/** A thread that answers everything at once. */
const startEcho = () => {
  const echo = new Worker(
    `const { parentPort } = require('node:worker_threads')
    parentPort.on('message', (message) => parentPort.postMessage(message))`,
    { eval: true },
  )
  return {
    ask: async () => {
      echo.postMessage('ping')
      await once(echo, 'message')
    },
    [Symbol.asyncDispose]: async () => void (await echo.terminate()),
  }
}

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('does not take a server for silent because this process was busy when the answer came', async () => {
  await using echo = startEcho()
  const told: boolean[] = []
  let asked = 0
  const probe = async () => {
    asked++
    setImmediate(block, 1_200)
    await echo.ask()
  }
  await using heartbeat = startHeartbeat(probe, (connected) => told.push(connected))
  await expect.poll(() => asked).toBe(2)
  await wait(1_500)
  expect(told).toEqual([])
  expect(heartbeat.connected).toBe(true)
})

it('says that a server is silent which does not answer within a second, and that it answers again', async () => {
  const told: boolean[] = []
  const answer = Promise.withResolvers<void>()
  await using heartbeat = startHeartbeat(
    () => answer.promise,
    (connected) => told.push(connected),
  )
  await expect.poll(() => told).toEqual([false])
  expect(() => heartbeat.require()).toThrow('the state store does not answer')
  answer.resolve()
  await expect.poll(() => told).toEqual([false, true])
})
