import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createProbeCall } from './conformance/probe.suite.ts'
import { createFrameHeaders } from './frame.ts'
import { openBus, openMemoryHub } from './open.ts'
import { actingContract } from './testing/cluster.ts'
import type { WireMessage } from './wire.ts'

/** Starts a call of the gateway to a service that names `control` as its inbox. */
const startCall = async (control: string) => {
  await using opened = new AsyncDisposableStack()
  const hub = openMemoryHub()
  const producer = opened.use(await hub.connect({ caller: 'query', instance: 'taken-over' }))
  const gateway = opened.use(await openBus({ hub, caller: 'gateway', instance: 'g1', version: 'test' }))
  const requested = Promise.withResolvers<WireMessage>()
  producer.subscribe('svc.query.gateway.>', requested.resolve)
  const published: string[] = []
  producer.subscribe(control, ({ headers }) => published.push(headers.control ?? ''))
  const left = new AbortController()
  const streaming = gateway.client(actingContract).pieces({}, createProbeCall({ signal: left.signal }))
  streaming.catch(() => {})
  const { reply = '' } = await requested.promise
  const send = (kind: 'head' | 'working', sequence: number) =>
    producer.publish(reply, Buffer.from('{}'), { headers: createFrameHeaders(kind, sequence), reply: control })
  const running = opened.move()
  return { send, left, published, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const flush = async (): Promise<void> => {
  for (let count = 0; count < 10; count += 1) await turn()
}

it.each([
  ['_INBOX.query.q1.1', ['credit', 'cancel'], ['cancel']],
  ['_INBOX.query-guest.q1.1', ['credit', 'cancel'], ['cancel']],
  ['svc.alert-dispatcher.gateway.updateAlertConfig', [], []],
  ['event.gateway.instance.announced', [], []],
  ['_INBOX.gateway.g1.1', [], []],
])('publishes control messages to the producer inbox %s: %j', async (control, whileReading, afterwards) => {
  {
    await using call = await startCall(control)
    call.send('head', 0)
    call.send('working', 1)
    await flush()
    call.left.abort(new Error('left'))
    await flush()
    expect(call.published).toEqual(whileReading)
  }
  // A caller that cancels before the first frame learns the inbox from that frame.
  await using call = await startCall(control)
  call.left.abort(new Error('left'))
  call.send('head', 0)
  await flush()
  expect(call.published).toEqual(afterwards)
})
