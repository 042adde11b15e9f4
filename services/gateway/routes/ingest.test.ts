import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { EventsResponse, IngestResponse } from '#proto/http/events.ts'
import { ServiceError } from '#proto/errors.ts'
import { maxIngestBodyBytes } from '#proto/ingest.ts'
import { fakeIngest } from '../testing/fake-services.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const secret = 'the token of the senders'
const withToken = { SVC_EVENTS_INGEST_TOKEN: secret }
const good = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }

type IngestResult = Awaited<ReturnType<typeof fakeIngest.accept>>
type Given = Parameters<typeof fakeIngest.accept>[0]

/** Returns a fake `ingest` that records its requests. */
const recordingIngest = (answer: IngestResult | ServiceError = [{ id: 'a1', duplicate: false }]) => {
  const accepted: Given[] = []
  const accept = async (given: Given) => {
    accepted.push(given)
    if (answer instanceof ServiceError) throw answer
    return answer
  }
  return { ingest: { accept }, accepted }
}

type Sent = Omit<RequestInit, 'headers'> & { headers: Record<string, string>; duplex?: 'half' }

const send = async (url: string, init: Sent, query = '') => {
  const response = await fetch(`${url}/api/events/ingest${query}`, { method: 'POST', body: '{"title":"T"}', ...init })
  const body: unknown = await response.json()
  return { status: response.status, headers: response.headers, body, error: ErrorResponse.safeParse(body).data?.error }
}

describe('POST /api/events/ingest', () => {
  it('rejects all requests while no token is set', async () => {
    const unset: Record<string, string>[] = [{}, { SVC_EVENTS_INGEST_TOKEN: '' }]
    for (const env of unset) {
      const { ingest, accepted } = recordingIngest()
      await using product = await startFakeProduct({ env, ingest })
      const tried: Sent['headers'][] = [{}, good, { authorization: 'Bearer ' }, { authorization: 'Bearer undefined' }]
      for (const headers of tried) {
        const { status, error } = await send(product.url, { headers })
        expect([status, error?.message]).toEqual([503, 'events are rejected: SVC_EVENTS_INGEST_TOKEN is not set'])
      }
      expect(accepted).toEqual([])
    }
  })

  it('accepts only its bearer token and the previous one', async () => {
    const { ingest, accepted } = recordingIngest()
    const env = { ...withToken, SVC_EVENTS_INGEST_TOKEN_PREVIOUS: 'the one before', SVC_API_KEY_SECRET: 'keys' }
    await using product = await startFakeProduct({ env, ingest })
    for (const bearer of ['', secret.slice(0, -1), `${secret}x`, secret.toUpperCase(), 'svc_x.y']) {
      const { status, headers, error } = await send(product.url, {
        headers: { ...good, authorization: `Bearer ${bearer}` },
      })
      expect([status, error?.message]).toEqual([401, 'missing or wrong ingest token; send it as Authorization: Bearer'])
      expect(headers.get('www-authenticate')).toBe('Bearer realm="watchhouse"')
    }
    expect(accepted).toEqual([])
    for (const bearer of [secret, 'the one before']) {
      expect((await send(product.url, { headers: { ...good, authorization: `Bearer ${bearer}` } })).status).toBe(202)
    }
    expect(product.logged.join('')).not.toContain(secret)
  })

  it('checks token, rate limit, length, type and content in this order', async () => {
    const { ingest, accepted } = recordingIngest(new ServiceError('invalid', 'the body is not JSON'))
    await using product = await startFakeProduct({ env: { ...withToken, RATE_LIMIT_INGEST_PER_MIN: '4' }, ingest })
    const long = 'x'.repeat(maxIngestBodyBytes + 1)
    const bad = { authorization: 'Bearer x', 'content-type': 'text/plain' }
    const known = { ...bad, authorization: good.authorization }
    // Requests without the token do not count towards the rate limit.
    for (let time = 0; time < 5; time += 1)
      expect((await send(product.url, { headers: bad, body: long })).status).toBe(401)
    expect((await send(product.url, { headers: known, body: long })).status).toBe(413)
    expect((await send(product.url, { headers: known, body: '{' })).status).toBe(415)
    expect((await send(product.url, { headers: good, body: Buffer.from([0x22, 0xff, 0x22]) })).error?.message).toBe(
      'the body is not UTF-8',
    )
    expect((await send(product.url, { headers: good, body: '{' })).error?.message).toBe('the body is not JSON')
    const { status, headers } = await send(product.url, { headers: known, body: long })
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(accepted).toHaveLength(1)
  })

  it('counts the bytes of a body without Content-Length', async () => {
    const { ingest, accepted } = recordingIngest()
    await using product = await startFakeProduct({ env: withToken, ingest })
    const body = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 5; part += 1) controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
        controller.close()
      },
    })
    const streamed: Sent = { headers: good, body, duplex: 'half' }
    expect((await send(product.url, streamed)).status).toBe(413)
    expect(accepted).toEqual([])
  })

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/cloudevents+json',
    'Application/Vnd.x+JSON',
  ])('accepts %s', async (type) => {
    const { ingest } = recordingIngest()
    await using product = await startFakeProduct({ env: withToken, ingest })
    expect((await send(product.url, { headers: { ...good, 'content-type': type } })).status).toBe(202)
  })

  it('accepts a CloudEvent without data and content type', async () => {
    const { ingest, accepted } = recordingIngest()
    await using product = await startFakeProduct({ env: withToken, ingest })
    const { 'content-type': _, ...untyped } = good
    const received = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 's', 'ce-type': 't' }
    expect((await send(product.url, { headers: { ...untyped, ...received }, body: null })).status).toBe(202)
    expect(accepted).toEqual([{ body: '', headers: received }])
    expect((await send(product.url, { headers: untyped, body: null })).status).toBe(415)
  })

  it('forwards the body and its headers, without credentials', async () => {
    const { ingest, accepted } = recordingIngest()
    await using product = await startFakeProduct({ env: withToken, ingest })
    const received = {
      'ce-id': '1',
      'idempotency-key': 'k',
      'x-webhook-id': 'w',
      'x-reemit-hops': '1',
      'x-github-event': 'check_run',
      'sentry-hook-resource': 'issue',
    }
    await send(product.url, { headers: { ...good, ...received, cookie: 'a=b', 'x-other': 'c' } })
    expect(accepted).toEqual([{ body: '{"title":"T"}', headers: { ...received, 'content-type': 'application/json' } }])
  })
})

const signatureOf = (body: string, key: string) => createHmac('sha256', key).update(body).digest('hex')
const sentBody = '{"title":"T"}'
const typed = { 'content-type': 'application/json' }
const basic = (password: string, user = 'sns') => ({
  ...typed,
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const senderSecrets = {
  SVC_EVENTS_BASIC_PASSWORD: 'the pass:word',
  SVC_EVENTS_QUERY_TOKEN: 'token in the URL',
  SVC_EVENTS_GITHUB_SECRET: 'secret of GitHub',
  SVC_EVENTS_SENTRY_SECRET: 'secret of Sentry',
  SVC_EVENTS_SIGNING_SECRET: 'secret of others',
  SVC_EVENTS_SIGNATURE_HEADER: 'X-PagerDuty-Signature',
}
const inUrl = `?token=${encodeURIComponent(senderSecrets.SVC_EVENTS_QUERY_TOKEN)}`

/** Credentials of senders, by variable: accepted headers and query, and wrong ones. */
const credentials: [name: string, good: [Sent['headers'], string?], bad: [Sent['headers'], string?][]][] = [
  [
    'SVC_EVENTS_BASIC_PASSWORD',
    [basic('the pass:word')],
    [[basic('the pass')], [basic('')], [basic(secret)], [{ ...typed, authorization: 'Basic !' }]],
  ],
  [
    'SVC_EVENTS_QUERY_TOKEN',
    [typed, inUrl],
    [
      [typed, '?token='],
      [typed, `${inUrl}${inUrl.replace('?', '&')}`],
    ],
  ],
  [
    'SVC_EVENTS_GITHUB_SECRET',
    [{ ...typed, 'x-hub-signature-256': `sha256=${signatureOf(sentBody, 'secret of GitHub')}` }],
    [
      [{ ...typed, 'x-hub-signature-256': `sha256=${signatureOf(`${sentBody} `, 'secret of GitHub')}` }],
      [{ ...typed, 'x-hub-signature-256': 'sha256=' }],
      [{ ...typed, 'sentry-hook-signature': signatureOf(sentBody, 'secret of GitHub') }],
    ],
  ],
  [
    'SVC_EVENTS_SENTRY_SECRET',
    [{ ...typed, 'sentry-hook-signature': signatureOf(sentBody, 'secret of Sentry') }],
    [[{ ...typed, 'sentry-hook-signature': signatureOf(sentBody, 'secret of GitHub') }]],
  ],
  [
    'SVC_EVENTS_SIGNING_SECRET',
    [{ ...typed, 'x-pagerduty-signature': `v1=00,v1=${signatureOf(sentBody, 'secret of others')}` }],
    [
      [{ ...typed, 'x-signature': signatureOf(sentBody, 'secret of others') }],
      [{ ...typed, 'x-pagerduty-signature': `a,b,c,d,${signatureOf(sentBody, 'secret of others')}` }],
    ],
  ],
]

describe('senders without the bearer token', () => {
  it.each(credentials)('are accepted with %s only', async (name, [headers, query], bad) => {
    const { ingest, accepted } = recordingIngest()
    await using product = await startFakeProduct({ env: { ...withToken, ...senderSecrets }, ingest })
    expect((await send(product.url, { headers }, query)).status).toBe(202)
    expect(accepted).toHaveLength(1)
    expect(JSON.stringify(accepted)).not.toMatch(/signature|token in/)
    for (const [wrong, wrongQuery] of bad) {
      const rejected = await send(product.url, { headers: wrong }, wrongQuery)
      expect([rejected.status, rejected.error?.type]).toEqual([401, 'unauthenticated'])
      for (const value of Object.values(senderSecrets).slice(0, -1))
        expect(JSON.stringify(rejected.body)).not.toContain(value)
    }
    expect(accepted).toHaveLength(1)
    expect(product.logged.join('')).not.toMatch(/token.in|token%20in|secret of|the pass/)
    const unset: Record<string, string> = { ...withToken, ...senderSecrets, [name]: '' }
    await using without = await startFakeProduct({ env: unset, ingest })
    expect((await send(without.url, { headers }, query)).status).toBe(401)
  })

  it('are accepted with the previous secret', async () => {
    const { ingest } = recordingIngest()
    const env = { ...withToken, SVC_EVENTS_GITHUB_SECRET: 'new', SVC_EVENTS_GITHUB_SECRET_PREVIOUS: 'old' }
    await using product = await startFakeProduct({ env, ingest })
    for (const key of ['old', 'new']) {
      const headers = { ...typed, 'x-hub-signature-256': `sha256=${signatureOf(sentBody, key)}` }
      expect((await send(product.url, { headers })).status).toBe(202)
    }
  })

  it('are rejected while no ingest token is set', async () => {
    await using product = await startFakeProduct({ env: senderSecrets, ...recordingIngest() })
    for (const [, [headers, query]] of credentials)
      expect((await send(product.url, { headers }, query)).status).toBe(503)
  })

  it('get a challenge for the password if one is set', async () => {
    await using product = await startFakeProduct({ env: { ...withToken, ...senderSecrets }, ...recordingIngest() })
    const { status, headers } = await send(product.url, { headers: typed })
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="watchhouse", Basic realm="watchhouse"',
    ])
  })
})

describe('the media type', () => {
  const sns = { 'x-amz-sns-message-type': 'Notification' }
  it.each<[string, Record<string, string>, number]>([
    ['text/plain; charset=UTF-8', sns, 202],
    ['text/plain; charset=UTF-8', {}, 415],
    ['text/html', sns, 415],
    ['application/x-ndjson', {}, 202],
  ])('%s with %j gets %i', async (type, more, status) => {
    await using product = await startFakeProduct({ env: withToken, ...recordingIngest() })
    expect((await send(product.url, { headers: { ...good, ...more, 'content-type': type } })).status).toBe(status)
  })
})

describe('the response to a sender', () => {
  it('lists accepted, duplicate and invalid events', async () => {
    const taken = [
      { id: 'a1', duplicate: false },
      { error: 'an event must be a JSON object' },
      { id: 'b2', duplicate: true },
    ]
    await using product = await startFakeProduct({ env: withToken, ...recordingIngest(taken) })
    const { status, body } = await send(product.url, { headers: good })
    expect(status).toBe(202)
    expect(IngestResponse.parse(body).data).toEqual({
      accepted: 2,
      duplicates: 1,
      ids: ['a1', 'b2'],
      errors: [{ index: 1, message: 'an event must be a JSON object' }],
    })
  })

  it.each<[IngestResult | ServiceError, number, string, string | null]>([
    [[{ error: 'id is required' }], 422, 'id is required', null],
    [new ServiceError('conflict', 'another body'), 409, 'another body', null],
    [
      new ServiceError('unavailable', 'the queue is unreachable', { retryAfterMs: 1_000 }),
      503,
      'the queue is unreachable',
      '1',
    ],
    [
      new ServiceError('busy', 'the queue EVENTS is full', { retryAfterMs: 5_000 }),
      503,
      'the queue EVENTS is full',
      '5',
    ],
  ])('is an error when no event was stored: %o', async (answer, status, message, retryAfter) => {
    await using product = await startFakeProduct({ env: withToken, ...recordingIngest(answer) })
    const answered = await send(product.url, { headers: good })
    expect([answered.status, answered.error?.message]).toEqual([status, message])
    expect(answered.headers.get('retry-after')).toBe(retryAfter)
  })

  it('is 503 while ingest is not running', async () => {
    await using product = await startFakeProduct({ env: withToken })
    expect((await send(product.url, { headers: good })).status).toBe(503)
  })
})

describe('the list of events', () => {
  it('is filtered and paged', async () => {
    const requests: unknown[] = []
    const events = async (...given: Parameters<typeof fakeIngest.events>) => {
      requests.push(given[0])
      return fakeIngest.events(...given)
    }
    await using product = await startFakeProduct({ ingest: { events } })
    const url = `${product.url}/api/v1/events?source=a&severity=critical&status=firing&search=x&from=1&to=2&limit=1`
    const { data, metadata } = EventsResponse.parse(await (await fetch(url)).json())
    expect(data).toMatchObject([{ id: 'a1', title: 'Disk full' }])
    expect(metadata.next).toBe('1790000000001-a1')
    await fetch(`${product.url}/api/v1/events?before=${metadata.next}`)
    const filter = { source: 'a', severity: 'critical', status: 'firing', search: 'x', fromMs: 1, toMs: 2, limit: 1 }
    expect(requests).toEqual([filter, { after: { receivedAt: 1_790_000_000_001, id: 'a1' }, limit: 100 }])
  })

  it.each([
    ['severity=loud', 'severity'],
    ['status=odd', 'status'],
    ['search=', 'search'],
    ['limit=501', 'limit'],
    ['before=soon', 'before'],
    ['from=-1', 'from'],
  ])('rejects %s by name', async (query, parameter) => {
    await using product = await startFakeProduct({ ingest: {} })
    const response = await fetch(`${product.url}/api/v1/events?${query}`)
    expect(response.status).toBe(400)
    expect(ErrorResponse.parse(await response.json()).error.details?.parameter).toBe(parameter)
  })
})
