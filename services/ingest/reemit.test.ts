import { clockOf } from '#shared/time/clock.ts'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { openNet } from '#shared/net/net.ts'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'
import { type Reemitting, mayReemit, reemit } from './consume.ts'
import { eventOf } from './testing/event.ts'

const nowMs = 1_000_000

interface Heard {
  headers: IncomingHttpHeaders
  body: unknown
}

/** Somebody who answers with these statuses in turn. */
const startTarget = async (...statuses: readonly number[]) => {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    heard.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    response.statusCode = statuses[heard.length - 1] ?? 200
    response.end()
  })
  const { origin, stop } = await onLoopback(server)
  return {
    url: `${origin}/hook?token=secret`,
    heard,
    [Symbol.asyncDispose]: stop,
  }
}

/** Hands one event on until it ends; tells what became of it, with the waits in between. */
const handOn = async (url: string | undefined, more: Partial<InboundEvent>, replaced: Partial<Reemitting> = {}) => {
  await using net = openNet({ env: {} })
  const lines: string[] = []
  const outcomes: unknown[] = []
  const handing = reemit({
    env: url === undefined ? {} : { SVC_EVENTS_REEMIT_WEBHOOK_URL: url },
    send: net.trusted,
    clock: clockOf(() => nowMs),
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    origin: async () => 'watchhouse-0123456789abcdef',
    observe: (outcome) => outcomes.push(outcome),
    waitsMs: [1, 2],
    ...replaced,
  })
  for (let deliveries = 1; ; deliveries += 1) {
    const outcome = await handing({ body: eventOf({ receivedAt: nowMs, raw: '{"s":1}', ...more }), deliveries })
    if (outcome === 'done') return { outcomes, logged: lines.join('') }
    outcomes.push(outcome)
  }
}

describe('an event is handed on', () => {
  it('as JSON with its id, our name and one more hop, without what was sent', async () => {
    await using target = await startTarget()
    const { outcomes } = await handOn(target.url, { hops: 1 })
    expect(outcomes).toEqual(['sent'])
    const [{ headers, body } = { headers: {}, body: {} }] = target.heard
    expect(headers).toMatchObject({ 'x-event-id': 'e1', 'x-reemit-hops': '2', 'content-type': 'application/json' })
    expect(body).toMatchObject({ id: 'e1', title: 'Disk full', origin: 'watchhouse-0123456789abcdef' })
    expect(Object.keys(Object(body))).not.toContain('raw')
  })

  it('with the names of all installations that it came through', async () => {
    await using target = await startTarget()
    const names = ['watchhouse-00000000000000aa', 'watchhouse-00000000000000bb']
    await handOn(target.url, { raw: JSON.stringify({ origin: names[0], via: [names[1], names[0]] }) })
    expect(target.heard[0]?.body).toMatchObject({ via: names })
  })

  it('not at all without an address', async () => {
    expect((await handOn(undefined, {})).outcomes).toEqual([])
  })

  it.each([
    ['began with us', { own: true }],
    ['has gone through three installations', { hops: 3 }],
  ])('not when it %s', async (_name, more) => {
    await using target = await startTarget()
    const { outcomes, logged } = await handOn(target.url, more)
    expect(outcomes).toEqual(['skipped'])
    expect(logged).toContain('event not handed on: it goes round')
    expect(target.heard).toEqual([])
  })

  it.each<[string, number[], unknown[]]>([
    ['again after a failure that may pass', [503, 429], [{ againInMs: 1 }, { againInMs: 2 }, 'sent']],
    ['three times, then no more', [500, 500, 500], [{ againInMs: 1 }, { againInMs: 2 }, 'failed']],
    ['once to who does not want it', [404], ['failed']],
    ['once to who sends it elsewhere', [302], ['failed']],
  ])('%s', async (_name, statuses, outcomes) => {
    await using target = await startTarget(...statuses)
    const told = await handOn(target.url, {})
    expect(told.outcomes).toEqual(outcomes)
    expect(told.logged).not.toContain('secret')
  })

  it('not when it has waited for ten minutes', async () => {
    await using target = await startTarget()
    const { outcomes, logged } = await handOn(target.url, { receivedAt: nowMs - 600_001 })
    expect(outcomes).toEqual(['failed'])
    expect(logged).toContain('nobody took it in time')
    expect(target.heard).toEqual([])
  })

  it.each(['http://example.com/hook', 'https://127.0.0.1/secret', 'https://localhost/secret', 'no address'])(
    'never to %s, with a warning',
    async (url) => {
      await using net = openNet({ env: {} })
      const { outcomes, logged } = await handOn(url, {}, { send: net.guarded('reemit') })
      expect(outcomes).toEqual(['failed'])
      expect(logged).toContain('may not be asked')
      expect(logged).not.toContain('/secret')
    },
  )
})

it.each([
  [{}, false],
  [{ SVC_EVENTS_REEMIT_WEBHOOK_URL: 'https://hooks.example' }, true],
  [{ SVC_EVENTS_REEMIT_WEBHOOK_URL_FILE: '/not/there/yet' }, true],
])('with %o whether events may ever be handed on is %s', (env, may) => expect(mayReemit({ env })).toBe(may))
