import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { readDocument, type ServedDocument } from '../gateway/testing/served-document.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { createGatewayVariables, startScriptedGateway } from '../testing/scripted-gateway.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

const scope = new AsyncDisposableStack()
let product: Product
let document: ServedDocument
beforeAll(async () => {
  const gateway = scope.use(await startScriptedGateway({ script: [{ say: [{ text: 'All is well.' }] }] }))
  const limits = { RATE_LIMIT_MCP_PER_MIN: '1000', RATE_LIMIT_AGENT_PER_MIN: '1000' }
  const env = { ...createGatewayVariables(gateway), ...limits, SVC_MCP_PUBLIC: 'true' }
  const hosts = [{ url: 'http://127.0.0.1:1', name: 'unreachable' }]
  product = scope.use(await startProduct({ hosts, env }))
  document = await readDocument(await fetch(`${product.url}/api/v1/openapi.json`))
})
afterAll(() => scope.disposeAsync())

const json = { 'content-type': 'application/json' }
const events = { ...json, accept: 'text/event-stream' }
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
/** An MCP request of revision 2026-07-28, in which a header repeats the method. */
const unknownMethod: RequestInit = {
  headers: {
    ...events,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'no/such',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'no/such',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      },
    },
  }),
}
const path = '/api/mcp'

describe('the OpenAPI document of the tool server', () => {
  it.each<[string, number, string | null, RequestInit]>([
    ['a request', 200, 'application/json', { headers: json, body: ping }],
    ['a request that accepts events', 200, 'text/event-stream', { headers: events, body: ping }],
    ['a batch', 200, 'application/json', { headers: json, body: `[${ping}]` }],
    ['a notification', 202, null, { headers: json, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' }],
    ['an unknown method', 404, 'application/json', unknownMethod],
    ['no JSON', 400, 'application/json', { headers: json, body: '{' }],
    ['an unknown version', 400, 'application/json', { headers: { ...json, 'mcp-protocol-version': '1' }, body: ping }],
    ['another media type', 415, 'application/json', { headers: { 'content-type': 'text/plain' }, body: ping }],
    ['too long a body', 413, 'application/json', { headers: json, body: ' '.repeat(600_000) }],
  ])('is right about %s: %d %s', async (_what, status, mediaType, init) => {
    const answer = await fetch(product.url + path, { method: 'POST', ...init })
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0] ?? null]).toEqual([status, mediaType])
    await document.expectDocumented({ path, method: 'post' }, answer)
  })

  it.each(['GET', 'DELETE'])('declares no success response of %s, which is rejected', async (method) => {
    for (const headers of [{}, { accept: 'text/event-stream' }]) {
      const answer = await fetch(product.url + path, { method, headers })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
      const place = { path, method: method.toLowerCase() }
      expect(await document.expectDocumented(place, answer)).toContain('"jsonrpc":"2.0"')
      expect(document.statusesOf(place).filter((status) => /^[23]/.test(status))).toEqual([])
    }
  })
})

describe('the OpenAPI document of the agent', () => {
  const agentPath = '/api/v1/agent'
  const stream = '/api/v1/agent/{id}/stream'

  it('describes the event stream of an answer, and how to resume it', async () => {
    const started = await fetch(product.url + agentPath, {
      method: 'POST',
      headers: json,
      body: '{"message":"Is it well?"}',
    })
    expect([started.status, started.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(await document.expectDocumented({ path: agentPath, method: 'post' }, started)).toContain('[DONE]')
    const id = started.headers.get('x-run-id') ?? ''
    const resumed = await fetch(product.url + stream.replace('{id}', id))
    expect([resumed.status, resumed.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(await document.expectDocumented({ path: stream, method: 'get' }, resumed)).toContain('[DONE]')
  })

  it('describes a chat without a run, and invalid questions', async () => {
    const none = await fetch(product.url + stream.replace('{id}', 'no-such-chat'))
    expect(none.status).toBe(204)
    await document.expectDocumented({ path: stream, method: 'get' }, none)
    const headers = { 'last-event-id': 'x' }
    const wrong = await fetch(product.url + stream.replace('{id}', 'no-such-chat'), { headers })
    await document.expectDocumented({ path: stream, method: 'get' }, wrong)
    for (const [type, body] of Object.entries({ 'application/json': '{}', 'text/plain': 'x' })) {
      const refused = await fetch(product.url + agentPath, { method: 'POST', headers: { 'content-type': type }, body })
      expect([400, 415]).toContain(refused.status)
      await document.expectDocumented({ path: agentPath, method: 'post' }, refused)
    }
  })
})

describe('the OpenAPI document of every operation', () => {
  const health = { path: '/api/health', method: 'get' }

  it.each([
    ['too many header fields', `GET /api/health HTTP/1.1\r\nhost: localhost\r\n${'x: 1\r\n'.repeat(101)}\r\n`],
    ['too long a header field', `GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
  ])('says that %s are 431', async (_what, bytes) => {
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.end(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 431 /)
    expect(ErrorResponse.parse(JSON.parse(body)).error.type).toBe('too-large')
    const answer = new Response(body, { status: 431, headers: json })
    await document.expectDocumented(health, answer)
  })

  it('declares the errors that any route can return', () => {
    // 403, 408, 431 and 503 among others.
    for (const [where, operations] of Object.entries(document.paths)) {
      for (const method of Object.keys(operations)) {
        expect(document.statusesOf({ path: where, method })).toEqual(expect.arrayContaining(['4XX', '5XX']))
      }
    }
  })

  it('declares 304 for an unchanged response', async () => {
    const place = { path: '/api/v1/openapi.json', method: 'get' }
    const etag = (await fetch(product.url + place.path)).headers.get('etag') ?? ''
    const answer = await fetch(product.url + place.path, { headers: { 'if-none-match': etag } })
    expect(answer.status).toBe(304)
    await document.expectDocumented(place, answer)
  })
})
