import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
afterAll(async () => product[Symbol.asyncDispose]())

const sendRequest = async (path: string, init?: RequestInit) => {
  const response = await fetch(product.url + path, init)
  return { status: response.status, headers: response.headers, ...ErrorResponse.parse(await response.json()) }
}

const long = (length: number) => 'x'.repeat(length)
const manyParams = JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 1])))

/** Invalid requests: path, invalid parameter and part of its message. */
const refused: [path: string, parameter: string, says: string][] = [
  ['/api/v1/host-status', 'hostId', 'is required'],
  ['/api/v1/overview', 'hostId', 'is required'],
  ['/api/v1/overview?hostId=', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=abc', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=1e9', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=1.5', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=-1', 'hostId', 'negative'],
  ['/api/v1/overview?hostId=+1', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=01', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=0x1', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=100000', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=9999999999999999', 'hostId', 'whole number'],
  ['/api/v1/overview?hostId=0&hostId=1', 'hostId', 'only once'],
  ['/api/v1/overview?hostId=0&hostid=1', 'hostid', 'allowed: hostId'],
  ['/api/v1/host-status?hostId=0&fleet=yes', 'fleet', '1 or 0'],
  ['/api/v1/tables?hostId=x', 'hostId', 'whole number'],
  ['/api/v1/charts/query-count?hostId=x', 'hostId', 'whole number'],
  [`/api/v1/charts/${'x'.repeat(129)}`, 'name', 'longer than 128 characters'],
  ['/api/v1/charts/query-count?interval=toStartOfSecond', 'interval', 'must be one of toStartOfFiveSeconds'],
  ['/api/v1/charts/query-count?interval=', 'interval', 'must be one of'],
  ['/api/v1/charts/query-count?lastHours=0', 'lastHours', 'from 1 to 9600'],
  ['/api/v1/charts/query-count?lastHours=9601', 'lastHours', 'from 1 to 9600'],
  ['/api/v1/charts/query-count?lastHours=1.5', 'lastHours', 'from 1 to 9600'],
  ['/api/v1/charts/query-count?from=20&to=10', 'to', 'later than from'],
  ['/api/v1/charts/query-count?from=x', 'from', 'a time with its zone'],
  ['/api/v1/charts/query-count?timezone=Europe/Bielefeld', 'timezone', 'must be a time zone'],
  ['/api/v1/charts/query-count?timezone=%2B01:00', 'timezone', 'must be a time zone'],
  [`/api/v1/charts/query-count?timezone=${long(65)}`, 'timezone', 'must be a time zone'],
  ['/api/v1/charts/query-count?params=%7B', 'params', 'JSON object'],
  ['/api/v1/charts/query-count?params=3', 'params', 'must be'],
  ['/api/v1/charts/query-count?params=%7B%22a%22:%7B%7D%7D', 'params.a', 'text of at most 512'],
  [`/api/v1/charts/query-count?params=${encodeURIComponent(JSON.stringify({ a: long(513) }))}`, 'params.a', 'text of'],
  [`/api/v1/charts/query-count?params=${encodeURIComponent(manyParams)}`, 'params', 'at most 20 keys'],
  ['/api/v1/charts/query-count?range=1', 'range', 'is unknown'],
  ['/api/v1/insights/query-patterns?order=size', 'order', 'must be one of total_time'],
  ['/api/v1/insights/query-patterns?lastHours=9601', 'lastHours', 'from 1 to 9600'],
  ['/api/v1/insights/query-patterns?limit=1001', 'limit', 'from 1 to 1000'],
  ['/api/v1/insights/query-patterns?from=20&to=10', 'to', 'later than from'],
  [`/api/v1/insights/query-patterns?search=${long(257)}`, 'search', '256'],
  ['/api/v1/insights/query-patterns?lastMinutes=0', 'lastMinutes', 'from 1 to 576000'],
  ['/api/v1/insights/query-pattern-changes?measure=size', 'measure', 'must be one of p95'],
  ['/api/v1/insights/query-pattern-changes?compareOffset=59', 'compareOffset', 'from 60 to 34560000'],
  ['/api/v1/insights/query-patterns/abc', 'hash', 'decimal normalized_query_hash'],
  ['/api/v1/insights/query-patterns/-1', 'hash', 'decimal normalized_query_hash'],
  ['/api/v1/insights/query-patterns/18446744073709551616', 'hash', '2 to the power of 64'],
  ['/api/v1/insights/query-patterns/1?executions=201', 'executions', 'from 1 to 200'],
  ['/api/v1/queries/q?lastHours=0', 'lastHours', 'from 1 to 9600'],
  [`/api/v1/queries/${long(257)}`, 'queryId', '256'],
  ['/api/v1/explain', 'query', 'is required'],
  ['/api/v1/explain?query=SELECT+1&mode=analyse', 'mode', 'must be one of plan, pipeline'],
  ['/api/v1/explain?query=SELECT+1&planSettings=x', 'planSettings', 'must be a JSON object'],
  ['/api/v1/explain?query=SELECT+1&planSettings=%7B%22json%22:%22x%22%7D', 'planSettings.json', '0, 1, true or false'],
  [`/api/v1/explain?query=${long(8001)}`, 'query', 'send it by POST'],
  ['/api/v1/tables/running-queries?sort=elapsed', 'sort', 'elapsed.desc'],
  ['/api/v1/tables/running-queries?sort=elapsed.down', 'sort', 'elapsed.desc'],
  ['/api/v1/tables/running-queries?filter=elapsed', 'filter.0', 'column.operator.value'],
  ['/api/v1/tables/running-queries?filter=a.eq.1&filter=a.like.1', 'filter.1', 'column.operator.value'],
  [`/api/v1/tables/running-queries?filter=a.in.${'1,'.repeat(50)}`, 'filter.0', 'at most 50 values'],
  [`/api/v1/tables/running-queries?${'filter=a.eq.1&'.repeat(21)}`, 'filter', 'at most 20 times'],
  [`/api/v1/tables/running-queries?search=${long(257)}`, 'search', '256'],
  ['/api/v1/tables/running-queries?limit=0', 'limit', 'whole number'],
  ['/api/v1/tables/running-queries?limit=10&pageSize=10', 'pageSize', 'is an alias of limit'],
  ['/api/v1/tables/running-queries?page=2', 'page', 'requires limit'],
  ['/api/v1/tables/running-queries?page=0&limit=10', 'page', 'whole number'],
  ['/api/v1/tables/running-queries?page=1&limit=10&offset=1', 'page', 'mutually exclusive'],
  ['/api/v1/tables/running-queries?total=yes', 'total', '1 or 0'],
  ['/api/v1/tables/running-queries?format=xml', 'format', 'must be one of json, csv'],
  ['/api/v1/tables?limit=10001', 'limit', 'from 1 to 10000'],
  [`/api/v1/tables?search=${long(257)}`, 'search', '256'],
  ['/api/v1/tables/running-queries/filter-options', 'column', 'is required'],
  ['/api/v1/tables/running-queries/filter-options?column=', 'column', 'must name a column'],
  ['/api/v1/tables/running-queries/filter-options?column=a&filter=a', 'filter.0', 'column.operator.value'],
  ['/api/v1/tables/running-queries?offset=-1', 'offset', 'whole number'],
  ['/api/v1/tables/running-queries?min_elapsed=1&min_elapsed=2', 'min_elapsed', 'only once'],
]

describe('an invalid parameter', () => {
  const titled = refused.map((row) => [row[0].slice(0, 80), ...row] as const)
  it.each(titled)('rejects %s', async (_title, path, parameter, says) => {
    const { status, error } = await sendRequest(path)
    expect(status).toBe(400)
    expect(error.type).toBe('invalid')
    expect(error.message).toContain(parameter)
    expect(error.details?.parameter).toBe(parameter)
    expect(error.details?.problems).toContainEqual({ parameter, message: expect.stringContaining(says) })
    expect(product.received.filter(({ method }) => method !== 'hosts')).toEqual([])
  })

  it('is among at most a few that the error lists', async () => {
    const send = (body: string) =>
      fetch(`${product.url}/api/v1/explain`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      })
    const settings = Array.from({ length: 20_000 }, (_, index) => `"k${index}":[]`).join(',')
    const names = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')
    const longName = `{"query":"SELECT 1","planSettings":{"${long(100_000)}":[]}}`
    for (const body of [`{"query":"SELECT 1","planSettings":{${settings}}}`, `{${names}}`, longName]) {
      const response = await send(body)
      const text = await response.text()
      expect(response.status).toBe(400)
      expect(text.length).toBeLessThan(8_000)
      if (body !== longName)
        expect(ErrorResponse.parse(JSON.parse(text)).error.message).toContain('further problems omitted')
    }
  })

  it('is listed with all other invalid parameters', async () => {
    const { error } = await sendRequest('/api/v1/charts/query-count?hostId=x&lastHours=y')
    expect(error.details?.problems).toHaveLength(2)
  })

  it.each([
    ['/api/v1/overview?hostId=%ff', 'UTF-8'],
    ['/api/v1/overview?hostId=%', 'UTF-8'],
    [`/api/v1/overview?${'a=1&'.repeat(101)}`, 'maximum is 100'],
    [`/api/v1/tables/running-queries?${Array.from({ length: 21 }, (_, n) => `p${n}=1`).join('&')}`, 'maximum is 20'],
  ])('rejects a whole query string: %.60s', async (path, says) => {
    const { status, error } = await sendRequest(path)
    expect([status, error.type]).toEqual([400, 'invalid'])
    expect(error.message).toContain(says)
  })
})

describe('an unknown resource', () => {
  it.each(['/api/v1/overview?hostId=2', '/api/v1/charts/query-count?hostId=2', '/api/v1/tables?hostId=2'])(
    '%s names the hosts there are',
    async (path) => {
      const { status, error } = await sendRequest(path)
      expect([status, error.type]).toEqual([404, 'not-found'])
      expect(error.message).toBe('unknown host "2"; available: 0 (analytics), 1 (logs)')
      expect(error.details?.hosts).toEqual([
        { id: 0, name: 'analytics' },
        { id: 1, name: 'logs' },
      ])
    },
  )

  it.each([
    ['/api/v1/charts/query-coutn', 'query-count'],
    ['/api/v1/charts/QUERY%20COUNT', 'query-count'],
    ['/api/v1/tables/runing-queries', 'running-queries'],
  ])('%s suggests the nearest name', async (path, nearest) => {
    const { status, error } = await sendRequest(path)
    expect([status, error.type]).toEqual([404, 'not-found'])
    expect(error.details?.nearest).toEqual([nearest])
  })

  it.each(['/api', '/api/', '/api/v1', '/api/v2/hosts', '/api/v1/catalogue/0', '/API/health', '/api/v1/charts'])(
    '%s is a path that does not exist',
    async (path) => {
      const { status, error } = await sendRequest(path)
      expect([status, error.type]).toEqual([404, 'not-found'])
    },
  )

  it.each([
    ['DELETE', '/api/v1/catalogue', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/v1/charts/query-count', 'GET, HEAD, OPTIONS'],
    ['POST', '/api/health', 'GET, HEAD, OPTIONS'],
    ['GET', '/api/v1/charts/batch', 'POST, OPTIONS'],
  ])('%s %s returns 405 with the allowed methods', async (method, path, allow) => {
    const { status, headers, error } = await sendRequest(path, { method })
    expect([status, error.type, headers.get('allow')]).toEqual([405, 'method-not-allowed', allow])
  })
})

describe('an invalid body', () => {
  const json = { 'content-type': 'application/json' }
  const bodies: [what: string, init: RequestInit, status: number, type: string, says: string][] = [
    ['none', {}, 415, 'unsupported-media-type', 'application/json'],
    ['text', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415, 'unsupported-media-type', 'application'],
    ['a broken one', { body: '{"names":', headers: json }, 400, 'invalid', 'not JSON'],
    ['no UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]), headers: json }, 400, 'invalid', 'UTF-8'],
    ['a list', { body: '[]', headers: json }, 400, 'invalid', 'the body must be an object'],
    ['no names', { body: '{}', headers: json }, 400, 'invalid', 'names is required'],
    ['empty names', { body: '{"names":[]}', headers: json }, 400, 'invalid', 'names must not be empty'],
    [
      'more hours than a year has',
      { body: '{"names":["a"],"lastHours":9601}', headers: json },
      400,
      'invalid',
      'lastHours must be at most 9600',
    ],
    [
      'an unknown interval',
      { body: '{"names":["a"],"interval":"toStartOfEra"}', headers: json },
      400,
      'invalid',
      'interval must be one of toStartOfFiveSeconds, ',
    ],
    ['a half host', { body: '{"names":["a"],"hostId":1.5}', headers: json }, 400, 'invalid', 'hostId must be a whole'],
    [
      'a host as text',
      { body: '{"names":["a"],"hostId":"1"}', headers: json },
      400,
      'invalid',
      'hostId must be a number',
    ],
    ['a negative host', { body: '{"names":["a"],"hostId":-1}', headers: json }, 400, 'invalid', 'hostId'],
    ['unknown fields', { body: '{"names":["a"],"host":1}', headers: json }, 400, 'invalid', 'host is unknown'],
    ['nesting without end', { body: '['.repeat(400_000), headers: json }, 400, 'invalid', 'not JSON'],
    [
      'a name of the language itself',
      { body: '{"__proto__":{"names":["a"]}}', headers: json },
      400,
      'invalid',
      '__proto__',
    ],
    [
      'a little that unpacks to a lot',
      { body: gzipSync(Buffer.alloc(50_000_000)), headers: { ...json, 'content-encoding': 'gzip' } },
      413,
      'too-large',
      'too large',
    ],
    [
      'what only says that it is packed',
      { body: '{}', headers: { ...json, 'content-encoding': 'gzip' } },
      400,
      'invalid',
      'cannot be read',
    ],
    ['a huge one', { body: long(600_000), headers: json }, 413, 'too-large', 'too large'],
    [
      'an odd encoding',
      { body: '{}', headers: { ...json, 'content-encoding': 'zstd9' } },
      415,
      'unsupported-media-type',
      'encoding',
    ],
  ]
  it.each(bodies)('rejects %s', async (_what, init, expected, type, says) => {
    const { status, error } = await sendRequest('/api/v1/charts/batch', { method: 'POST', ...init })
    expect([status, error.type]).toEqual([expected, type])
    expect(error.message).toContain(says)
  })
})
