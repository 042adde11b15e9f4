import { createClock } from '#shared/time/clock.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { InboundEvent, inboundSubjectPattern } from '#proto/inbound-event.ts'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import { openStore } from '#shared/store/open.ts'
import { createAcceptHandler } from './accept.ts'
import { testServiceCall } from './testing/service-call.ts'

const nowMs = Date.UTC(2026, 2, 1, 12)
const json = { 'content-type': 'application/json' }

/** Opens `ingest` in memory and records the events in its queue. */
const opened = async (opening: AsyncDisposableStack, replaced: Partial<Queue> = {}) => {
  const store = opening.use(await openStore({ env: {}, busIsShared: false }))
  const queue = opening.use(await openMemoryQueues()())
  const origin = openInstallationId(store)
  const seen: InboundEvent[] = []
  const consumer = { stream: 'EVENTS', name: 'test', subjects: inboundSubjectPattern, body: InboundEvent } as const
  opening.use(
    await queue.consume(consumer, async ({ body }) => {
      seen.push(body)
      return 'done'
    }),
  )
  const observed: string[] = []
  const observe = (type: string, outcome: string) => void observed.push(`${type} ${outcome}`)
  const handler = createAcceptHandler({
    queue: { ...queue, ...replaced },
    store,
    clock: createClock(() => nowMs),
    origin,
    openEnvelope: async (request) => request,
    observe,
  })
  const send = (sent: unknown, headers: Record<string, string> = {}) =>
    handler(
      { body: typeof sent === 'string' ? sent : JSON.stringify(sent), headers: { ...json, ...headers } },
      testServiceCall,
    )
  return { send, seen, observed, origin }
}

const idOf = (taken: unknown): string => z.object({ id: z.string() }).parse(taken).id

describe('accepted events', () => {
  it('are parsed from lines of JSON, each on its own', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen } = await opened(opening)
    const lines = ['{"title":"a","status":"open"}', '', 'no JSON', '{"title":"b","status":"open"}', '']
    const taken = await send(lines.join('\n'), { 'content-type': 'application/x-ndjson' })
    expect(taken).toMatchObject([
      { duplicate: false },
      { error: 'an event must be a JSON object' },
      { duplicate: false },
    ])
    expect(seen.map(({ title }) => title).toSorted()).toEqual(['a', 'b'])
  })

  it('publishes the complete event in the common format before it responds', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen, observed } = await opened(opening)
    const sent = {
      title: ' Disk full ',
      severity: 'high',
      host: 'db-1',
      labels: { a: 1, b: { c: 2 }, d: null },
      x: 'y',
    }
    const [taken] = await send(sent)
    expect(taken).toEqual({ id: expect.stringMatching(/^[0-9a-f]{40}$/), duplicate: false })
    await expect.poll(() => seen).toHaveLength(1)
    expect(seen[0]).toEqual({
      id: idOf(taken),
      source: 'generic',
      sourceType: 'generic',
      externalId: null,
      dedupKey: expect.stringMatching(/^[0-9a-f]{40}$/),
      severity: 'warning',
      severityUnknown: false,
      status: 'firing',
      resource: 'db-1',
      title: 'Disk full',
      body: '',
      labels: { a: '1', b: '{"c":2}' },
      occurredAt: nowMs,
      endsAt: null,
      receivedAt: nowMs,
      url: null,
      truncated: false,
      own: false,
      hops: 0,
      raw: JSON.stringify(sent),
    })
    expect(observed).toEqual(['generic kept'])
  })

  it('recognizes a repeated event in any field order', async () => {
    await using opening = new AsyncDisposableStack()
    const { send } = await opened(opening)
    const [first] = await send({ title: 'T', a: [{ b: 1, c: 2 }] })
    expect(await send({ a: [{ c: 2, b: 1 }], title: 'T' })).toEqual([{ id: idOf(first), duplicate: true }])
    expect(await send({ a: [{ c: 2, b: 2 }], title: 'T' })).not.toEqual([{ id: idOf(first), duplicate: true }])
  })

  it('accepts valid events next to invalid ones in the same request', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, observed } = await opened(opening)
    const huge = { title: 'T', text: 'é'.repeat(33_000) }
    expect(await send([{ title: 'a' }, 7, huge])).toEqual([
      { id: expect.any(String), duplicate: false },
      { error: 'an event must be a JSON object' },
      { error: 'the event is too large: the maximum is 65536 bytes' },
    ])
    expect(observed).toEqual(['none refused', 'none refused', 'generic kept'])
  })

  it('cuts long texts between characters and marks the event as truncated', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen } = await opened(opening)
    const labels = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`l${index}`, '😀'.repeat(2_500)]))
    await send({ title: `${'x'.repeat(298)}😀😀`, labels: { l0: labels.l0 }, fingerprint: 'k'.repeat(500) })
    await send({ title: 'T', labels: Object.fromEntries(Object.keys(labels).map((name) => [name, 'v'])) })
    await expect.poll(() => seen).toHaveLength(2)
    expect(seen.map(({ truncated }) => truncated)).toEqual([true, true])
    expect(seen[0]?.title).toBe(`${'x'.repeat(298)}…`)
    expect(seen[0]?.labels.l0?.isWellFormed()).toBe(true)
    expect(seen[0]?.dedupKey).toMatch(/^[0-9a-f]{40}$/)
    expect(Object.keys(seen[1]?.labels ?? {})).toHaveLength(64)
  })

  it('limits the time of the event to the time of receipt', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen } = await opened(opening)
    await send([
      { title: 'a', timestamp: '2036-01-01T00:00:00Z' },
      { title: 'b', timestamp: nowMs - 1 },
    ])
    await expect.poll(() => seen.map(({ occurredAt }) => occurredAt)).toEqual([nowMs, nowMs - 1])
  })

  it('replaces NUL characters and unpaired surrogates', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen } = await opened(opening)
    await send('{"title":"a\\u0000b","body":"\\ud83d","source":"s\\u0000","labels":{"l":"\\u0000"}}')
    await expect.poll(() => seen).toMatchObject([{ title: 'a b', body: '\uFFFD', labels: { l: ' ' } }])
  })

  it('recognizes a PagerDuty incident of this installation', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen, origin } = await opened(opening)
    const data = { id: 'P1', title: 'Disk full', incident_key: `${await origin()}:an-episode` }
    await send({ event: { id: 'E1', event_type: 'incident.triggered', data } })
    await expect.poll(() => seen).toMatchObject([{ sourceType: 'pagerduty', own: true }])
  })

  it('recognizes the own origin in base64 data of a CloudEvent', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen, origin } = await opened(opening)
    const data = Buffer.from(JSON.stringify({ title: 'T', origin: await origin() })).toString('base64')
    await send({ specversion: '1.0', id: '1', source: 's', type: 't', data_base64: data })
    await expect.poll(() => seen).toMatchObject([{ own: true }])
  })

  it('recognizes the own origin in any field', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen, origin } = await opened(opening)
    await send([{ title: 'a', details: [`sent by ${await origin()}`] }, { title: 'b' }], { 'x-reemit-hops': '2' })
    await expect
      .poll(() => seen.map(({ own, hops }) => [own, hops]))
      .toEqual([
        [true, 2],
        [false, 2],
      ])
  })
})

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'k' }

  it('returns the events of its first request', async () => {
    await using opening = new AsyncDisposableStack()
    const { send, seen } = await opened(opening)
    const [one, two] = await send([{ title: 'a' }, { title: 'a' }], key)
    expect(idOf(one)).not.toBe(idOf(two))
    expect(await send([{ title: 'a' }, { title: 'a' }], key)).toEqual([
      { id: idOf(one), duplicate: true },
      { id: idOf(two), duplicate: true },
    ])
    await expect(send([{ title: 'b' }], key)).rejects.toMatchObject({
      code: 'conflict',
      message: 'Idempotency-Key was already used with another body; use a new key for new events',
    })
    expect(await send([{ title: 'b' }], { 'idempotency-key': 'l' })).toMatchObject([{ duplicate: false }])
    expect(seen).toHaveLength(3)
  })

  it('allows a failed request to be repeated', async () => {
    await using opening = new AsyncDisposableStack()
    let isAway = true
    const memory = opening.use(await openMemoryQueues()())
    const publish: Queue['publish'] = async (...given) => {
      if (isAway) throw new ServiceError('unavailable', 'the queue is unreachable', { retryAfterMs: 1_000 })
      return memory.publish(...given)
    }
    const { send } = await opened(opening, { publish })
    await expect(send({ title: 'a' }, key)).rejects.toMatchObject({ code: 'unavailable', retryAfterMs: 1_000 })
    isAway = false
    expect(await send({ title: 'a' }, key)).toMatchObject([{ duplicate: false }])
  })

  it('stays free if no event was stored', async () => {
    await using opening = new AsyncDisposableStack()
    const { send } = await opened(opening)
    expect(await send([7], key)).toEqual([{ error: 'an event must be a JSON object' }])
    expect(await send([{ title: 'a' }], key)).toMatchObject([{ duplicate: false }])
  })

  it.each(['', 'k'.repeat(256)])('is rejected with an invalid length', async (long) => {
    await using opening = new AsyncDisposableStack()
    const { send } = await opened(opening)
    await expect(send({ title: 'a' }, { 'idempotency-key': long })).rejects.toMatchObject({
      code: 'invalid',
      message: 'Idempotency-Key must have 1 to 255 characters',
    })
  })
})
