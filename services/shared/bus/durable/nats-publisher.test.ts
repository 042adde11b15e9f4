import { EventEmitter, on } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { headers as createHeaders, type Msg, type NatsConnection, type Status } from 'nats'
import { expect, it } from 'vitest'
import { openPublisher } from './nats-publisher.ts'

/** Opens a publisher on a connection that records what is published, and delivers the responses of the test. */
const open = (withinMs = 60_000) => {
  const published: { subject: string; reply: string }[] = []
  const events = new EventEmitter()
  let deliver = (_message: Msg): void => {}
  const connection = {
    publish: (subject: string, _body: unknown, options: { reply?: string } = {}) =>
      void published.push({ subject, reply: options.reply ?? '' }),
    subscribe: (_subject: string, { callback }: { callback: (error: null, message: Msg) => void }) => {
      deliver = (message) => callback(null, message)
    },
    async *status(): AsyncGenerator<Status> {
      for await (const [status] of on(events, 'status')) yield status
    },
  } as unknown as NatsConnection
  const publish = openPublisher({
    connection,
    inbox: '_INBOX.ingest-streams.i1',
    encode: () => createHeaders(),
    withinMs,
  })
  const respond = (text: string) => {
    // The publisher reads only these two fields.
    deliver({ subject: published.at(-1)?.reply, data: Buffer.from(text) } as unknown as Msg)
  }
  const reconnect = async () => {
    events.emit('status', { type: 'reconnect' })
    await turn()
    await turn()
  }
  const send = async () => {
    const result = publish('inbound.generic', Buffer.from('{}'), { 'Nats-Msg-Id': 'one' })
    result.catch(() => {})
    await expect.poll(() => published.length).toBe(1)
    return { result }
  }
  return { published, respond, reconnect, send }
}

const stored = JSON.stringify({ stream: 'EVENTS', duplicate: true })

it('publishes a message again after a reconnection, and does not report it as a duplicate', async () => {
  const publisher = open()
  const { result } = await publisher.send()
  await publisher.reconnect()
  expect(publisher.published).toHaveLength(2)
  expect(new Set(publisher.published.map(({ reply }) => reply)).size).toBe(1)
  publisher.respond(stored)
  expect(await result).toEqual({ stream: 'EVENTS', duplicate: false })
})

it('publishes a message again while its stream has no leader', async () => {
  const publisher = open()
  const { result } = await publisher.send()
  publisher.respond('')
  await expect.poll(() => publisher.published.length).toBe(2)
  publisher.respond(stored)
  expect(await result).toMatchObject({ stream: 'EVENTS' })
})

it('fails if no stream accepts the message in time', async () => {
  const publisher = open(500)
  const { result } = await publisher.send()
  publisher.respond('')
  await expect(result).rejects.toThrow('no responders')
})

it('reports a message that was stored before', async () => {
  const publisher = open()
  const { result } = await publisher.send()
  publisher.respond(stored)
  expect(await result).toEqual({ stream: 'EVENTS', duplicate: true })
})
