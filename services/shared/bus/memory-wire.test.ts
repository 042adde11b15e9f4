import { expect, it } from 'vitest'
import { openMemoryHub } from './memory-wire.ts'
import type { WireMessage } from './wire.ts'

const connect = async () => {
  const wire = await openMemoryHub().connect({ caller: 'query', instance: 'q1' })
  const received: WireMessage[] = []
  return { wire, received, hear: (message: WireMessage) => void received.push(message) }
}

it('never delivers inside publish, and copies published messages', async () => {
  const { wire, received, hear } = await connect()
  wire.subscribe('a', hear)
  const body = new Uint8Array([1])
  wire.publish('a', body)
  expect(received).toEqual([])
  body[0] = 2
  await wire[Symbol.asyncDispose]()
  expect(received.map((message) => message.body[0])).toEqual([1])
})

it('lets timers run while messages cause further messages', async () => {
  const { wire } = await connect()
  let rounds = 0
  wire.subscribe('round', ({ body }) => {
    rounds += 1
    wire.publish('round', body)
  })
  wire.publish('round', new Uint8Array(0))
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(rounds).toBeGreaterThan(0)
  await wire[Symbol.asyncDispose]()
})

it('rejects messages that a NATS server would reject', async () => {
  const { wire } = await connect()
  expect(() => wire.publish('a', new Uint8Array(1024 * 1024 + 1))).toThrow('the maximum is 1048576')
})

it('reports a missing listener to publishers that expect a reply, and to no others', async () => {
  const { wire, received, hear } = await connect()
  wire.subscribe('reply', hear)
  wire.publish('unused', new Uint8Array(0))
  wire.publish('unused', new Uint8Array(0), { reply: 'reply' })
  await wire.flush()
  await wire[Symbol.asyncDispose]()
  expect(received.map(({ unheard }) => unheard)).toEqual([true])
})
