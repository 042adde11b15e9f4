import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Product, formatHostVariables, startProduct } from '../testing/product.ts'
import { runProcessToEnd } from '../testing/product/product-process.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { startHangingHost, startRefusingHost } from '../testing/bad-hosts.ts'
import { describeWith, startRedis } from '../testing/describe-with.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

const someHost = formatHostVariables([{ url: 'http://127.0.0.1:9', name: 'missing' }])

describe('a failed start', () => {
  it('lists every problem of every service at once, and exits with 1', async () => {
    const { code, output } = await runProcessToEnd({
      services: [],
      variables: { PORT: 'http', COLUMNDB_POOL_SIZE: '0', LOG_LEVEL: 'loud', REDIS_URL: 'http://:marked@cache' },
    })
    expect(code).toBe(1)
    const lines = output.trim().split('\n')
    expect(lines[0]).toBe('watchhouse cannot start:')
    const named = lines.slice(1).map((line) => line.trim().split(':')[0])
    expect(named.toSorted()).toEqual(['COLUMNDB_HOST', 'COLUMNDB_POOL_SIZE', 'LOG_LEVEL', 'PORT', 'REDIS_URL'])
    expect(output).not.toContain('marked')
  })

  it('requires a host list in production', async () => {
    const { code, output } = await runProcessToEnd({ services: [], variables: {} })
    expect(code).toBe(1)
    expect(output).toContain('  COLUMNDB_HOST: is required in production')
  })

  it('requires NATS when only one of the services runs', async () => {
    const { code, output } = await runProcessToEnd({ services: ['query'], variables: someHost })
    expect(code).toBe(1)
    expect(output).toContain(
      '  NATS_URL: must be set to run query without report, mcp, alert-dispatcher, ingest, agent and gateway:',
    )
  })

  it('names the valid services when one is unknown, and ends with 2', async () => {
    const { code, output } = await runProcessToEnd({ services: ['gatewya', 'query'], variables: someHost })
    expect(code).toBe(2)
    expect(output).toBe(
      'unknown service "gatewya"; available: query, report, mcp, alert-dispatcher, ingest, agent and gateway; without arguments all services run\n',
    )
  })

  it('names the port in use', async () => {
    await using other = await startHangingHost()
    const taken = new URL(other.url).port
    const { code, output } = await runProcessToEnd({
      services: [],
      variables: { ...someHost, OPERATIONS_PORT: taken, PORT: '0' },
    })
    expect(code).toBe(1)
    expect(output).toContain(`  OPERATIONS_PORT: port ${taken} is already in use by another process`)
  })

  it('names the API port in use, and warns about an ignored legacy variable', async () => {
    await using other = await startHangingHost()
    const taken = new URL(other.url).port
    const { code, output } = await runProcessToEnd({
      services: [],
      variables: { ...someHost, OPERATIONS_PORT: '0', PORT: taken, VITE_COLUMNDB_TZ: 'UTC' },
    })
    expect(code).toBe(1)
    expect(output).toContain(`watchhouse cannot start:\n  PORT: port ${taken} is already in use by another process\n`)
    expect(output).toMatch(/"variable":"VITE_COLUMNDB_TZ","reason":"is no longer read; set COLUMNDB_TZ instead"/)
  })
})

describeWith(['redis'], 'a bus that cannot be reached', () => {
  it('ends the process without printing the password in its address', async () => {
    await using redis = await startRedis()
    const NATS_URL = `nats://watch:marked@127.0.0.1:${await reserveFreePort()}`
    const { code, output } = await runProcessToEnd({
      services: ['query'],
      variables: { ...someHost, NATS_URL, REDIS_URL: redis.url },
    })
    expect(code).toBe(1)
    expect(output).toMatch(/"reason":"cannot connect to NATS at 127\.0\.0\.1:\d+: [^"]+","msg":"stopped by an error"/)
    expect(output).not.toMatch(/marked|"stack"/)
  })
})

describe('a machine with neither NATS nor Redis, whose only host is down', () => {
  let product: Product
  beforeAll(async () => {
    const { url } = await startRefusingHost()
    product = await startProduct({ hosts: [{ url, name: 'missing' }] })
  })
  afterAll(() => product?.stop())

  it('starts, becomes ready and responds', async () => {
    expect((await fetchJson(`${product.url}/api/health`)).body).toEqual({ status: 'ok', timestamp: expect.any(String) })
    expect(await fetchJson(`${product.operationsUrls[0]}/readyz`)).toMatchObject({ status: 200, body: { ready: true } })
  })

  it('serves the metrics of its process', async () => {
    await fetchJson(`${product.url}/api/v1/hosts`)
    const { text } = await fetchJson(`${product.operationsUrls[0]}/metrics`)
    expect(text).toMatch(
      /^watchhouse_build_info\{.*services="query,report,mcp,alert-dispatcher,ingest,agent,gateway".*\} 1$/m,
    )
    expect(text).toMatch(/^watchhouse_http_request_duration_seconds_count\{.*route="\/api\/v1\/hosts".*\} 1$/m)
    expect(text).toMatch(/^watchhouse_bus_request_duration_seconds_count\{.*service="query".*outcome="ok".*\} \d+$/m)
  })
})
