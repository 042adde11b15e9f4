import { createClock } from '#shared/time/clock.ts'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { type MetricFamily, parseExposition, findSampleValue } from '../../testing/exposition-format.ts'
import { fakeExposition } from '../testing/fleet.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

/** Request headers of Prometheus 3. */
const prometheus = {
  accept:
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
  'accept-encoding': 'gzip',
}
const startMs = Date.UTC(2026, 0, 1)

const scrape = async ({ url }: FakeProduct, parameters: string[] = []): Promise<Map<string, MetricFamily>> => {
  const response = await fetch(`${url}/api/v1/metrics?${parameters.map(encodeURI).join('&')}`)
  expect(response.status).toBe(200)
  return parseExposition(await response.text())
}

const refused = async ({ url }: FakeProduct, parameters: string) => {
  const response = await fetch(`${url}/api/v1/metrics?${parameters}`)
  // All error responses have this format.
  const { error } = (await response.json()) as { error: { type: string; message: string } }
  return `${response.status} ${error.type} ${error.message}`
}

const requests = ({ received }: FakeProduct) => received.filter(({ method }) => method === 'exposition')

/** Returns the name and host of each series, sorted because the order of the hosts varies. */
const seriesOf = (families: Map<string, MetricFamily>) =>
  [...families]
    .flatMap(([name, { samples }]) => [...samples.values()].map(({ labels }) => `${name} ${labels.host}`))
    .toSorted()

describe('GET /api/v1/metrics', () => {
  it('returns the metrics and the status of every host', async () => {
    await using product = await startFakeProduct()
    const families = await scrape(product)
    expect(findSampleValue(families, 'clickhouse_query', { host: '1' })).toBe(3)
    expect(families.get('clickhouse_query')?.help).toBe(String.raw`Queries that run, in C:\\logs\nor elsewhere`)
    expect(findSampleValue(families, 'watchhouse_host_up', { host: '0' })).toBe(1)
    expect(findSampleValue(families, 'watchhouse_host_info', { host: '0', name: 'analytics', group: 'eu' })).toBe(1)
    expect(findSampleValue(families, 'watchhouse_host_info', { host: '1', name: 'logs' })).toBe(1)
    expect(findSampleValue(families, 'watchhouse_host_metrics_age_seconds', { host: '1' })).toBe(0.25)
    expect(findSampleValue(families, 'watchhouse_scrape_duration_seconds', {})).toBeGreaterThanOrEqual(0)
    expect(families.has('watchhouse_host_failure')).toBe(false)
  })

  it('shortens the timeout of other hosts after unreachable ones', async () => {
    const hosts = Array.from({ length: 40 }, (_, id) => ({
      id,
      key: `h${id}`,
      name: `h${id}`,
      host: `h${id}:8123`,
      group: null,
      tags: [],
    }))
    const atOnce = 32
    const allRequested = Promise.withResolvers<void>()
    const leftMs: number[] = []
    let lostMs = 0
    const clock = createClock(() => performance.now() + lostMs)
    await using product = await startFakeProduct({
      clock,
      query: {
        hosts: async () => hosts,
        exposition: async (input, call) => {
          leftMs.push(call.deadline - clock.elapsedMs())
          if (leftMs.length === atOnce) allRequested.resolve()
          if (Number(input.hostKey.slice(1)) >= atOnce) return fakeExposition(input, call)
          await allRequested.promise
          lostMs = 4_000
          throw new ServiceError('timeout', 'it is silent')
        },
      },
    })
    const families = await scrape(product)
    expect(Math.min(...leftMs.slice(0, atOnce))).toBeGreaterThan(4_000)
    expect(Math.max(...leftMs.slice(atOnce))).toBeLessThanOrEqual(250)
    expect(['0', '39'].map((host) => findSampleValue(families, 'watchhouse_host_up', { host }))).toEqual([0, 1])
  })

  it('logs no failure when the scraper disconnects early', async () => {
    const requests = Promise.withResolvers<void>()
    const ready = Promise.withResolvers<void>()
    await using product = await startFakeProduct({
      query: {
        exposition: async (input, call) => {
          requests.resolve()
          await ready.promise
          return fakeExposition(input, call)
        },
      },
    })
    const leaving = new AbortController()
    const headers = { 'accept-encoding': 'identity' }
    const left = request(`${product.url}/api/v1/metrics`, { signal: leaving.signal, headers })
    await requests.promise
    leaving.abort()
    await expect(left).rejects.toThrow()
    await expect.poll(() => product.logged.join(''), { timeout: 5_000 }).toContain('"status":499')
    const next = scrape(product)
    ready.resolve()
    expect(findSampleValue(await next, 'watchhouse_host_up', { host: '0' })).toBe(1)
    expect(product.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  it('is gzipped for Prometheus and plain without Accept-Encoding', async () => {
    await using product = await startFakeProduct()
    const path = `${product.url}/api/v1/metrics`
    const packed = await request(path, { headers: prometheus })
    expect(packed.headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
    })
    const bytes = Buffer.from(await packed.body.arrayBuffer())
    expect(packed.headers['content-length']).toBe(String(bytes.length))

    const plain = await request(path, { headers: { 'accept-encoding': 'gzip;q=0' } })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(await plain.body.text()).toBe(gunzipSync(bytes).toString('utf8'))
    const head = await request(path, { method: 'HEAD' })
    expect([head.statusCode, await head.body.text()]).toEqual([200, ''])
  })

  it('counts firing alerts while alert-dispatcher is available', async () => {
    await using without = await startFakeProduct()
    expect((await scrape(without)).has('watchhouse_alerts_firing')).toBe(false)
    await using product = await startFakeProduct({
      alerts: {
        firing: async () => [
          { hostKey: 'logs', conditions: 4 },
          { hostKey: 'gone', conditions: 1 },
        ],
      },
    })
    const families = await scrape(product)
    expect(seriesOf(families).filter((series) => series.startsWith('watchhouse_alerts'))).toEqual([
      'watchhouse_alerts_firing 0',
      'watchhouse_alerts_firing 1',
    ])
    expect(findSampleValue(families, 'watchhouse_alerts_firing', { host: '0' })).toBe(0)
    expect(findSampleValue(families, 'watchhouse_alerts_firing', { host: '1' })).toBe(4)
  })

  it('omits alerts when alert-dispatcher hangs', async () => {
    await using product = await startFakeProduct({
      alerts: {
        firing: async (_input, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
      },
    })
    const families = await scrape(product)
    expect(families.has('watchhouse_alerts_firing')).toBe(false)
    expect(families.has('clickhouse_query')).toBe(true)
  })

  it('omits a failed host and returns the reason', async () => {
    await using product = await startFakeProduct({
      query: {
        exposition: async (input, call) => {
          if (input.hostKey === 'logs') throw new ServiceError('busy', 'not now')
          return fakeExposition(input, call)
        },
      },
    })
    const families = await scrape(product)
    expect(findSampleValue(families, 'watchhouse_host_up', { host: '1' })).toBe(0)
    expect(findSampleValue(families, 'watchhouse_host_failure', { host: '1', reason: 'busy' })).toBe(1)
    expect(seriesOf(families).filter((series) => series.startsWith('clickhouse'))).toEqual([
      'clickhouse_query 0',
      'clickhouse_uptime 0',
    ])
  })

  it('returns the last metrics of a failed host with their age', async () => {
    await using product = await startFakeProduct({
      query: {
        exposition: async (input, call) => {
          const { frames } = await fakeExposition(input, call)
          return { head: { failure: 'timeout', ageMs: 61_000, freshForMs: 29_000 }, frames }
        },
      },
    })
    const families = await scrape(product)
    expect(findSampleValue(families, 'watchhouse_host_up', { host: '0' })).toBe(0)
    expect(findSampleValue(families, 'watchhouse_host_metrics_age_seconds', { host: '0' })).toBe(61)
    expect(findSampleValue(families, 'clickhouse_query', { host: '0' })).toBe(3)
  })

  it('filters by host, group and selector', async () => {
    await using product = await startFakeProduct()
    const names = async (...parameters: string[]) => seriesOf(await scrape(product, parameters))
    const figures = (series: string[]) => series.filter((each) => each.startsWith('clickhouse'))
    expect(figures(await names('host[]=1'))).toEqual(['clickhouse_query 1', 'clickhouse_uptime 1'])
    expect(figures(await names('host[]=1', 'host[]=0', 'host[]=1'))).toHaveLength(4)
    expect(figures(await names('group=eu'))).toEqual(['clickhouse_query 0', 'clickhouse_uptime 0'])
    expect(figures(await names('group=eu', 'host[]=1'))).toEqual([])
    expect(await names('match[]=clickhouse_query', 'match[]={__name__=~".*_up",host="1"}')).toEqual([
      'clickhouse_query 0',
      'clickhouse_query 1',
      'watchhouse_host_up 1',
    ])
    expect(requests(product).at(-1)?.call).toMatchObject({ priority: 'sweep', identity: { subject: 'gateway' } })
  })

  it('shares one collection while it is fresh, and repeats it afterwards', async () => {
    let nowMs = startMs
    await using product = await startFakeProduct({ clock: createClock(() => nowMs) })
    await Promise.all(Array.from({ length: 20 }, () => scrape(product)))
    expect(requests(product)).toHaveLength(2)
    nowMs += 28_999
    await scrape(product)
    expect(requests(product)).toHaveLength(2)
    nowMs += 1
    await scrape(product)
    expect(requests(product)).toHaveLength(4)
  })

  it('does not cache failures', async () => {
    await using product = await startFakeProduct({ withoutQuery: true })
    expect(await refused(product, '')).toMatch(/^503 unavailable /)
    expect(await refused(product, '')).toMatch(/^503 unavailable /)
  })

  it.each([
    ['host[]=9', '404 not-found unknown host "9"; available: 0 (analytics), 1 (logs)'],
    ['host[]=one', '400 invalid host[].0 must be a whole number from 0 to 99999'],
    ['host=0', '400 invalid host is unknown; allowed: hostId, host[], group, match[]'],
    ['hostId=9', '404 not-found unknown host "9"; available: 0 (analytics), 1 (logs)'],
    ['group=us', '404 not-found unknown group "us"; available: eu'],
    ['group=', '400 invalid group must not be empty'],
    ['group=eu&group=us', '400 invalid group must be given only once'],
    [`match[]=${'a'.repeat(1_025)}`, '400 invalid match[].0 must not be longer than 1024 characters'],
    [Array(21).fill('match[]=a').join('&'), '400 invalid match[] must be given at most 20 times'],
    [
      'match[]=a{',
      '400 invalid match[] must be a Prometheus series selector such as clickhouse_query{host="0"}; got "a{"',
    ],
  ])('rejects %s', async (parameters, sentence) => {
    await using product = await startFakeProduct()
    expect(await refused(product, parameters)).toBe(sentence)
  })

  it.each([
    [{}, 200],
    [{ SVC_FEATURE_PROMETHEUS_ENABLED: 'off' }, 404],
    [{ SVC_FEATURE_PROMETHEUS_ENABLED: 'maybe' }, 200],
    [{ SVC_CLOUD_MODE: 'true', SVC_IDP_PUBLIC_READ: 'true', SVC_AUTH_PROVIDER: 'none' }, 404],
    [{ SVC_CLOUD_MODE: 'true', SVC_AUTH_PROVIDER: 'none', SVC_FEATURE_PROMETHEUS_ENABLED: '1' }, 200],
  ])('with %j returns %s', async (env, status) => {
    await using product = await startFakeProduct({ env })
    expect((await fetch(`${product.url}/api/v1/metrics`)).status).toBe(status)
  })
})
