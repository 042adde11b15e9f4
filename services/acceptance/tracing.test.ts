import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGatewayVariables, startScriptedGateway } from '../agent/testing/scripted-gateway.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { type CollectedSpan, startOtlpCollector } from '../testing/otlp-collector.ts'
import { startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callerSpan = 'b7ad6b7169203331'
const [server, client] = [2, 3]

const expectToolSpans = (spans: readonly CollectedSpan[]): void => {
  const call = spans.find(({ name }) => name === 'tools/call query')
  expect(call).toMatchObject({ service: 'mcp', kind: server, parentSpanId: callerSpan, failed: false })
  expect(call?.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'query',
    'jsonrpc.request.id': '1',
  })
  const statement = spans.find(({ attributes }) => attributes['db.query.summary'] === 'SELECT system.tables')
  expect(statement).toMatchObject({ service: 'query', kind: client, name: 'SELECT system.tables' })
  expect(statement?.attributes).toMatchObject({ 'db.system.name': 'clickhouse', 'db.operation.name': 'SELECT' })
  expect(statement?.attributes).not.toHaveProperty('db.query.text')
}

const expectModelSpans = (spans: readonly CollectedSpan[]): void => {
  const chats = spans.filter(({ name }) => name === 'chat scripted/model')
  expect(chats).toHaveLength(2)
  expect(chats[0]).toMatchObject({ service: 'agent', kind: client })
  expect(chats[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': expect.any(String),
    'gen_ai.request.model': 'scripted/model',
    'gen_ai.usage.input_tokens': expect.anything(),
    'gen_ai.usage.output_tokens': expect.anything(),
    'gen_ai.response.finish_reasons': ['tool_calls'],
    'server.address': '127.0.0.1',
  })
  const names = spans.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['invoke_agent Watchhouse', 'execute_tool query']))
  // Only the first read of the events belongs to the request; all others are polls.
  expect(spans.filter(({ name, kind }) => name === 'agent.read' && kind === server).length).toBeLessThanOrEqual(1)
}

describeOnTopologies('a trace', (topology) => {
  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(() => sandbox?.[Symbol.asyncDispose]())

  /** Sends one request, waits until the product has exported its spans and exited, and returns the spans. */
  const spansOf = async (flags: string, path = '/api/v1/overview?hostId=0'): Promise<readonly CollectedSpan[]> => {
    await using collector = await startOtlpCollector()
    await using product = await startProduct({
      topology,
      hosts: [{ url: sandbox.url, name: 'one' }],
      env: { SVC_OTEL_EXPORTER_URL: collector.url },
    })
    const answer = await fetchJson(`${product.url}${path}`, {
      headers: { traceparent: `00-${traceId}-${callerSpan}-${flags}` },
    })
    expect(answer.status).toBe(200)
    await product.stop()
    expect(collector.problems).toEqual([])
    return collector.spans.filter((span) => span.traceId === traceId)
  }

  it('leads from the caller through the gateway and the query service to the statement', async () => {
    const spans = await spansOf('01')
    const chain: CollectedSpan[] = []
    let next = spans.find((span) => span.service === 'query' && span.kind === client)
    while (next !== undefined) {
      chain.unshift(next)
      const { parentSpanId } = next
      next = spans.find((span) => span.spanId === parentSpanId)
    }
    expect(chain.map(({ service, kind }) => [service, kind])).toEqual([
      ['gateway', server],
      ['gateway', client],
      ['query', server],
      ['query', client],
    ])
    expect(chain[0]?.parentSpanId).toBe(callerSpan)
    const [, , , statement] = chain
    expect(statement?.name).toMatch(/^SELECT system\.\w+/)
    expect(statement?.attributes).toMatchObject({
      'db.system.name': 'clickhouse',
      'db.operation.name': 'SELECT',
      'db.query.summary': statement?.name,
      'server.address': '127.0.0.1',
      'watchhouse.host': 'one',
    })
    expect(JSON.stringify(spans)).not.toMatch(/\b(?:FROM|WHERE)\b/)
  })

  it('of tools and models follows the conventions, without values and without spans of polls', async () => {
    await using collector = await startOtlpCollector()
    const secret = 'a value that must stay on the host'
    const sql = `SELECT name FROM system.tables WHERE name = '${secret}'`
    await using gateway = await startScriptedGateway({
      script: [
        { say: [{ call: 'query', with: { sql } }], ending: 'tool_calls' },
        // Slower than the polls for the events of the answer.
        { say: [{ text: secret }], thinksMs: 2_000 },
      ],
    })
    await using product = await startProduct({
      topology,
      toolServer: true,
      agent: true,
      hosts: [{ url: sandbox.url, name: 'one' }],
      env: { ...createGatewayVariables(gateway), SVC_MCP_PUBLIC: 'true', SVC_OTEL_EXPORTER_URL: collector.url },
    })
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(`${product.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const params = { name: 'query', arguments: { sql }, _meta: { traceparent: `00-${traceId}-${callerSpan}-01` } }
    // The context in the message, not that of the HTTP request, is the parent of the call.
    const called = await post(
      '/api/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { traceparent: `00-${traceId}-${'1'.repeat(16)}-01` },
    )
    expect(await called.text()).toContain('0 rows, complete')
    const agentTrace = '1af7651916cd43dd8448eb211c80319c'
    const answered = await post(
      '/api/v1/agent',
      { hostId: 0, messages: [{ role: 'user', parts: [{ type: 'text', text: secret }] }] },
      { traceparent: `00-${agentTrace}-${callerSpan}-01` },
    )
    expect(await answered.text()).toContain('[DONE]')
    await product.stop()
    expect(collector.problems).toEqual([])
    expectToolSpans(collector.spans.filter((span) => span.traceId === traceId))
    expectModelSpans(collector.spans.filter((span) => span.traceId === agentTrace))
    expect(JSON.stringify(collector.spans)).not.toContain(secret)
    // Probes, sweeps and schedules are polls, and belong to no caller.
    const ofOthers = collector.spans.filter((span) => ![traceId, agentTrace].includes(span.traceId))
    expect(ofOthers.map(({ service, name }) => `${service} ${name}`)).toEqual([])
  })

  it('is not recorded if its caller does not record it', async () => {
    expect(await spansOf('00')).toEqual([])
  })
})
