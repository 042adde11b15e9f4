import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { type CollectedSpan, startOtlpCollector } from '../testing/otlp-collector.ts'
import { startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callerSpan = 'b7ad6b7169203331'
const [server, client] = [2, 3]

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

  it('is not recorded if its caller does not record it', async () => {
    expect(await spansOf('00')).toEqual([])
  })
})
