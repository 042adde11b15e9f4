import { createClock } from '#shared/time/clock.ts'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { openNet } from '#shared/net/net.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { type ReemitDeps, canReemit, createReemitHandler } from './consume.ts'
import { createEvent } from './testing/event.ts'

const nowMs = 1_000_000

interface ReceivedRequest {
  headers: IncomingHttpHeaders
  body: unknown
}

/** Starts a server that responds with these statuses in order. */
const startTarget = async (...statuses: readonly number[]) => {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    response.statusCode = statuses[received.length - 1] ?? 200
    response.end()
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: `${origin}/hook?token=secret`,
    received,
    [Symbol.asyncDispose]: stop,
  }
}

/** Forwards one event until it succeeds or fails; returns the outcomes, including the waits. */
const forwardEvent = async (
  url: string | undefined,
  more: Partial<InboundEvent>,
  replaced: Partial<ReemitDeps> = {},
) => {
  await using net = openNet({ env: {} })
  const lines: string[] = []
  const outcomes: unknown[] = []
  const forward = createReemitHandler({
    env: url === undefined ? {} : { SVC_EVENTS_REEMIT_WEBHOOK_URL: url },
    send: net.trusted,
    clock: createClock(() => nowMs),
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    origin: async () => 'watchhouse-0123456789abcdef',
    observe: (outcome) => outcomes.push(outcome),
    waitsMs: [1, 2],
    ...replaced,
  })
  for (let deliveries = 1; ; deliveries += 1) {
    const outcome = await forward({ body: createEvent({ receivedAt: nowMs, raw: '{"s":1}', ...more }), deliveries })
    if (outcome === 'done') return { outcomes, logged: lines.join('') }
    outcomes.push(outcome)
  }
}

describe('forwarding an event', () => {
  it('sends JSON with its id, our origin and one more hop, without the raw event', async () => {
    await using target = await startTarget()
    const { outcomes } = await forwardEvent(target.url, { hops: 1 })
    expect(outcomes).toEqual(['sent'])
    const [{ headers, body } = { headers: {}, body: {} }] = target.received
    expect(headers).toMatchObject({ 'x-event-id': 'e1', 'x-reemit-hops': '2', 'content-type': 'application/json' })
    expect(body).toMatchObject({ id: 'e1', title: 'Disk full', origin: 'watchhouse-0123456789abcdef' })
    expect(Object.keys(Object(body))).not.toContain('raw')
  })

  it('lists all installations that the event passed', async () => {
    await using target = await startTarget()
    const names = ['watchhouse-00000000000000aa', 'watchhouse-00000000000000bb']
    await forwardEvent(target.url, { raw: JSON.stringify({ origin: names[0], via: [names[1], names[0]] }) })
    expect(target.received[0]?.body).toMatchObject({ via: names })
  })

  it('sends nothing without a target', async () => {
    expect((await forwardEvent(undefined, {})).outcomes).toEqual([])
  })

  it.each([
    ['originates from this installation', { own: true }],
    ['has passed three installations', { hops: 3 }],
  ])('sends nothing if it %s', async (_name, more) => {
    await using target = await startTarget()
    const { outcomes, logged } = await forwardEvent(target.url, more)
    expect(outcomes).toEqual(['skipped'])
    expect(logged).toContain('event not forwarded: forwarding loop')
    expect(target.received).toEqual([])
  })

  it.each<[string, number[], unknown[]]>([
    ['retries after a temporary failure', [503, 429], [{ againInMs: 1 }, { againInMs: 2 }, 'sent']],
    ['gives up after three attempts', [500, 500, 500], [{ againInMs: 1 }, { againInMs: 2 }, 'failed']],
    ['does not retry a rejected event', [404], ['failed']],
    ['does not follow a redirect', [302], ['failed']],
  ])('%s', async (_name, statuses, outcomes) => {
    await using target = await startTarget(...statuses)
    const result = await forwardEvent(target.url, {})
    expect(result.outcomes).toEqual(outcomes)
    expect(result.logged).not.toContain('secret')
  })

  it('drops an event that is older than ten minutes', async () => {
    await using target = await startTarget()
    const { outcomes, logged } = await forwardEvent(target.url, { receivedAt: nowMs - 600_001 })
    expect(outcomes).toEqual(['failed'])
    expect(logged).toContain('expired: received more than ten minutes ago')
    expect(target.received).toEqual([])
  })

  it.each(['http://example.com/hook', 'https://127.0.0.1/secret', 'https://localhost/secret', 'no address'])(
    'rejects %s with a warning',
    async (url) => {
      await using net = openNet({ env: {} })
      const { outcomes, logged } = await forwardEvent(url, {}, { send: net.guarded('reemit') })
      expect(outcomes).toEqual(['failed'])
      expect(logged).toContain('is not an allowed address')
      expect(logged).not.toContain('/secret')
    },
  )
})

it.each([
  [{}, false],
  [{ SVC_EVENTS_REEMIT_WEBHOOK_URL: 'https://hooks.example' }, true],
  [{ SVC_EVENTS_REEMIT_WEBHOOK_URL_FILE: '/not/there/yet' }, true],
])('returns for %o that forwarding is possible: %s', (env, expected) => expect(canReemit({ env })).toBe(expected))
