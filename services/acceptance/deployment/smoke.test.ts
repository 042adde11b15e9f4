import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { runChartScript } from '../../testing/chart/script.ts'
import { startProduct } from '../../testing/product.ts'

describe('the script of `helm test`', () => {
  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(() => sandbox?.[Symbol.asyncDispose]())

  const runAgainst = async (env: Record<string, string>, variables: Record<string, string> = {}) => {
    await using product = await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env })
    return await runChartScript('smoke.ts', { GATEWAY_URL: product.url, ...variables })
  }

  it('passes with the default settings, and skips the MCP server, which requires an API key', async () => {
    expect(await runAgainst({})).toMatch(
      /^ok +GET \/api\/healthz\nok +GET .*openapi.*\nok +GET .*charts.*\nskipped +POST \/api\/mcp: requires an API key/,
    )
  })

  it('requests the MCP server if it is public', async () => {
    expect(await runAgainst({ SVC_MCP_PUBLIC: 'true' })).toMatch(/\nok +POST \/api\/mcp\n$/)
  })

  it('skips disabled features', async () => {
    expect(await runAgainst({ SVC_MCP_PUBLIC: 'true', SVC_FEATURE_MCP_ENABLED: 'false' })).toMatch(
      /\nskipped +POST \/api\/mcp: the feature is disabled\n$/,
    )
  })

  it('fails with an invalid API key', async () => {
    const env = { SVC_API_KEY_SECRET: 'the secret of the API keys' }
    await expect(runAgainst(env, { API_KEY: 'svc_invalid' })).rejects.toThrow('returned 401')
  })

  it('waits for a gateway that is starting', async () => {
    let requests = 0
    const bodies: Readonly<Record<string, object>> = {
      '/api/healthz': { hosts: [] },
      '/api/v1/openapi.json': { openapi: '3.0.3' },
      '/api/v1/charts/query-count?hostId=0': { success: true },
      '/api/mcp': { result: { tools: [{}] } },
    }
    await using server = createServer(({ url = '' }, response) => {
      requests += 1
      response.statusCode = requests === 1 ? 503 : 200
      response.end(JSON.stringify(bodies[url] ?? {}))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await runChartScript('smoke.ts', { GATEWAY_URL: `http://127.0.0.1:${port}` })).toMatch(/(ok .*\n){4}$/)
    expect(requests).toBe(5)
  })

  it('fails if no gateway responds in time', async () => {
    const variables = { GATEWAY_URL: 'http://127.0.0.1:1', READY_WITHIN_SECONDS: '0' }
    await expect(runChartScript('smoke.ts', variables)).rejects.toThrow('/api/healthz')
  })
})
