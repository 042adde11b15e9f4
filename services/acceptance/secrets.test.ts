// @module-tag long
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiKeyResponse } from '#proto/http/auth.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { startHangingHost } from '../testing/bad-hosts.ts'
import { startOtlpCollector } from '../testing/otlp-collector.ts'
import { startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const mark = 'M4rk3dS3cr3t'
const paths = ['/api/health', '/api/healthz', '/api/v1/hosts', '/api/v1/overview?hostId=0', '/api/v1/overview?hostId=1']

describeOnTopologies('secrets', (topology) => {
  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await startSandbox({ password: mark })
  })
  afterAll(() => sandbox?.[Symbol.asyncDispose]())

  it('are in no log line, span, metric or answer', async () => {
    await using stuck = await startHangingHost()
    await using collector = await startOtlpCollector()
    await using product = await startProduct({
      topology,
      hosts: [
        { url: sandbox.url, name: 'open', user: 'watchhouse', password: mark },
        {
          url: sandbox.url.replace('127.0.0.1', 'localhost'),
          name: 'locked',
          user: 'watchhouse',
          password: `not-${mark}`,
        },
        { url: stuck.url, name: 'stuck', user: 'watchhouse', password: mark },
      ],
      env: {
        LOG_LEVEL: 'trace',
        COLUMNDB_MAX_EXECUTION_TIME: '1',
        SVC_OTEL_EXPORTER_URL: collector.url,
        SVC_API_KEY_SECRET: mark,
        CRON_SECRET: mark,
        LLM_API_KEY: mark,
      },
    })
    const operator = { authorization: `Bearer ${mark}`, cookie: `__session=${mark}; watchhouse_key=${mark}` }
    const issued = await fetchJson(`${product.url}/api/v1/auth/api-key`, {
      method: 'POST',
      headers: { ...operator, 'content-type': 'application/json' },
      body: '{"label":"secrets"}',
    })
    const { apiKey: key } = ApiKeyResponse.parse(issued.body).data
    // One caller is authenticated, the other has invalid credentials.
    const callers = [{ ...operator, authorization: `Bearer ${key}` }, operator]
    const requested = [...paths, '/api/v1/overview?hostId=2', `/api/v1/hosts?token=${mark}`, '/nothing']
    const answers = await Promise.all(
      callers.flatMap((headers) => requested.map((path) => fetchJson(`${product.url}${path}`, { headers }))),
    )
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThan(0)
    const seen = answers.map((answer) => answer.text)
    for (const url of product.operationsUrls) seen.push((await fetchJson(`${url}/metrics`)).text)
    await product.stop()

    expect(product.output().match(/"msg":"request answered"/g)?.length).toBeGreaterThan(paths.length)
    expect(collector.spans.length).toBeGreaterThan(0)
    for (const text of [...seen, product.output(), JSON.stringify(collector.spans)]) {
      expect(text).not.toContain(mark)
      expect(text).not.toContain(key)
    }
  })
})
