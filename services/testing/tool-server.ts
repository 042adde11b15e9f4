import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { z } from 'zod'
import { startSandbox } from '../sandbox/start.ts'
import { fetchJson, queryClickHouse } from './fetch-json.ts'
import { startProduct, type Topology } from './product.ts'

/** The MCP revision in which requests need no handshake. */
export const statelessRevision = '2026-07-28'

const ToolResponse = z.looseObject({
  id: z.unknown(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({}).optional(),
})
const ToolResult = z.looseObject({
  isError: z.boolean().default(false),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.looseObject({}).optional(),
})

const sweepSecret = 'the secret of sweeps in tests'

const statements = [
  "CREATE DATABASE cafe COMMENT 'open all day'",
  "CREATE TABLE cafe.guests (id UInt32, name String COMMENT 'as they say') ENGINE = MergeTree ORDER BY id",
  'CREATE TABLE cafe.visits (guest UInt32, at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY at',
  'CREATE VIEW cafe.latest AS SELECT guest, max(at) FROM cafe.visits GROUP BY guest',
  "INSERT INTO cafe.guests SELECT number, 'x' FROM numbers(1234)",
  'SELECT count() FROM cafe.guests AS g JOIN cafe.visits AS v ON g.id = v.guest',
  'SYSTEM FLUSH LOGS query_log',
]

/**
 * Starts the product with example tables on its first host and an unreachable second host, and connects an MCP client.
 */
export const startToolServer = async (topology: Topology) => {
  await using opening = new AsyncDisposableStack()
  const sandbox = opening.use(await startSandbox({ label: 'one' }))
  for (const statement of statements) await queryClickHouse(sandbox.url, statement)
  const hosts = [
    { url: sandbox.url, name: 'one' },
    { url: 'http://127.0.0.1:9', name: 'silent' },
  ]
  const env = {
    SVC_MCP_PUBLIC: 'true',
    RATE_LIMIT_MCP_PER_MIN: '100000',
    COLUMNDB_POOL_SIZE: '4',
    CRON_SECRET: sweepSecret,
  }
  const { url } = opening.use(
    await startProduct({ topology, hosts, env, dispatcher: true, toolServer: true, agent: true }),
  )
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`)))
  opening.defer(() => client.close())
  const running = opening.move()
  return {
    url,
    hostUrl: sandbox.url,
    client,
    ...createSenders(`${url}/api/mcp`),
    /** Evaluates the rules on all hosts. */
    sweep: async () => {
      const headers = { authorization: `Bearer ${sweepSecret}` }
      const { status, body } = await fetchJson(`${url}/api/cron/health-sweep`, { headers })
      if (status !== 200) throw new Error(`the sweep failed: ${JSON.stringify(body)}`)
    },
    call: async (name: string, given: object = {}) =>
      ToolResult.parse(await client.callTool({ name, arguments: { ...given } })),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** The MCP server of a test with its clients. */
export type ToolServer = Awaited<ReturnType<typeof startToolServer>>

/** Returns functions that send single MCP messages, one for each protocol revision. */
const createSenders = (url: string) => {
  const send = async (message: object, more: Record<string, string> = {}) => {
    const headers = { 'content-type': 'application/json', ...more }
    const { status, body } = await fetchJson(url, { method: 'POST', headers, body: JSON.stringify(message) })
    return { status, ...ToolResponse.parse(body) }
  }
  return {
    /** Sends a bare JSON-RPC message, as with curl: no handshake, no `_meta`, no Accept header for events. */
    classic: (method: string, params: object = {}) => send({ jsonrpc: '2.0', id: 1, method, params }),
    current: (method: string, params: object = {}, headers: Record<string, string> = {}) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': statelessRevision,
        'io.modelcontextprotocol/clientCapabilities': {},
      }
      const routing = {
        'mcp-protocol-version': statelessRevision,
        'mcp-method': method,
        accept: 'application/json, text/event-stream',
      }
      return send({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, { ...routing, ...headers })
    },
  }
}
