import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startOpenProduct } from '../testing/mcp-conformance/start.ts'
import { queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { statelessRevision } from '../testing/tool-server.ts'

const startLimitMs = 120_000
/** Exit code of the MCP Inspector if the tool call failed. */
const toolFailed = 5
const classic = '2025-11-25'
const facts = { name: 'test', version: '1.0.0' }

let product: Awaited<ReturnType<typeof startOpenProduct>>
beforeAll(async () => {
  product = await startOpenProduct()
}, startLimitMs)
afterAll(() => product?.[Symbol.asyncDispose]())
const address = () => new URL(`${product.url}/api/mcp`)

type Mode = 'legacy' | 'auto' | { pin: string }

const connectClassic = async () => {
  const client = new Client(facts)
  const transport = new StreamableHTTPClientTransport(address())
  await client.connect(transport)
  return { client, revision: () => transport.protocolVersion }
}

const connectModern = (mode: Mode) => async () => {
  const client = new ModernClient(facts, { versionNegotiation: { mode } })
  await client.connect(new ModernTransport(address()))
  return { client, revision: () => client.getNegotiatedProtocolVersion() }
}

describe.each([
  ['the client of the classic era', connectClassic, classic],
  ['the client of today that begins as before', connectModern('legacy'), classic],
  ['the client of today that finds out', connectModern('auto'), statelessRevision],
  ['the client of today that insists', connectModern({ pin: statelessRevision }), statelessRevision],
])('%s', (_what, connect, expected) => {
  let connected: Awaited<ReturnType<typeof connect>>
  beforeAll(async () => {
    connected = await connect()
  })
  afterAll(() => connected?.client.close())

  it('speaks its revision', () => {
    expect(connected.revision()).toBe(expected)
    expect(connected.client.getServerVersion()).toMatchObject({ name: 'watchhouse' })
  })

  it('lists tools, calls one, and gets the reason for a failed call', async () => {
    const { client } = connected
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('query')
    const result = await client.callTool({ name: 'query', arguments: { sql: 'SELECT 7 AS seven', structured: true } })
    expect(result).toMatchObject({ structuredContent: { rows: [[7]] } })
    const refused = await client.callTool({ name: 'query', arguments: { sql: 'DROP TABLE a' } })
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('must begin with') }] })
    await expect(client.callTool({ name: 'none', arguments: {} })).rejects.toMatchObject({ code: -32_602 })
  })

  it('receives progress of a long statement, and cancels it on the host', async () => {
    const { client } = connected
    const running = async (): Promise<number> => {
      const counted =
        "SELECT toUInt32(count()) AS n FROM system.processes WHERE query LIKE '%sipHash64(number)) FROM system.num%' AND query_id != queryID()"
      return Number((await queryClickHouse(product.hostUrl, counted))[0]?.n)
    }
    const progress: string[] = []
    const left = new AbortController()
    const request = { name: 'query', arguments: { sql: 'SELECT sum(sipHash64(number)) FROM system.numbers' } }
    const options = {
      signal: left.signal,
      onprogress: ({ message }: { message?: string | undefined }) => void progress.push(message ?? ''),
    }
    const call =
      client instanceof Client ? client.callTool(request, undefined, options) : client.callTool(request, options)
    call.catch(() => {})
    await retryUntil(running, (count) => count === 1)
    await retryUntil(
      async () => progress.at(-1) ?? '',
      (message) => /query has read [\d,]+ rows \([\d.]+ MB\) in \d+ s/.test(message),
    )
    left.abort()
    expect(await retryUntil(running, (count) => count === 0)).toBe(0)
    // The connection remains usable.
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  })

  it('accepts null as no arguments', async () => {
    const { client } = connected
    // The types of the clients exclude null, which other clients send.
    const request = { name: 'list_hosts', arguments: null as unknown as Record<string, unknown> }
    expect(await client.callTool(request)).toMatchObject({ content: [{ text: expect.stringContaining('1 host') }] })
  })

  it('completes arguments of prompts', async () => {
    const { client } = connected
    const complete = async (prompt: string, name: string, value: string) => {
      const ref = { type: 'ref/prompt' as const, name: prompt }
      return (await client.complete({ ref, argument: { name, value } })).completion.values
    }
    expect(await complete('health-check', 'hostId', '')).toEqual(['0'])
    expect(await complete('slow-query-analysis', 'hours', '2')).toEqual(['24'])
    expect(await complete('storage-audit', 'database', 'sys')).toEqual(['system'])
    expect(await complete('storage-audit', 'none', '')).toEqual([])
  })

  it('reads resources and gets prompts', async () => {
    const { client } = connected
    const { contents } = await client.readResource({ uri: 'columndb://databases' })
    expect(contents).toMatchObject([{ mimeType: 'application/json', text: expect.stringContaining('"system"') }])
    const { messages } = await client.getPrompt({ name: 'health-check', arguments: { hostId: '0' } })
    expect(messages).toMatchObject([{ role: 'user' }])
  })
})

describe.each([
  ['with a server', () => ({ words: [], variables: { WATCHHOUSE_URL: product.url } }), 1],
  ['without a server', () => ({ words: ['--clickhouse-url', product.hostUrl], variables: {} }), 1],
])('the command "watchhouse mcp" %s', (_what, target, hosts) => {
  const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url))
  const connect = async (more: { words: string[]; variables: Record<string, string> }) => {
    const client = new Client(facts)
    const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), ...more.variables }
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', ...more.words], env }),
    )
    return client
  }

  it('serves tools, resources and prompts, and cancels a statement on the host', async () => {
    await using opened = new AsyncDisposableStack()
    const client = opened.adopt(await connect(target()), (each) => each.close())
    expect(await client.callTool({ name: 'list_hosts' })).toMatchObject({
      content: [{ text: expect.stringContaining(`${hosts} host.`) }],
    })
    const refused = await client.callTool({ name: 'query', arguments: { sql: 'DROP TABLE a' } })
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('must begin with') }] })
    const { contents } = await client.readResource({ uri: 'columndb://databases' })
    expect(contents).toMatchObject([{ text: expect.stringContaining('"system"') }])
    expect((await client.listPrompts()).prompts).toHaveLength(5)
    const left = new AbortController()
    const sql = 'SELECT sum(sipHash64(number + 1)) FROM system.numbers'
    const call = client.callTool({ name: 'query', arguments: { sql } }, undefined, { signal: left.signal })
    call.catch(() => {})
    const running = async (): Promise<number> => {
      const counted =
        "SELECT toUInt32(count()) AS n FROM system.processes WHERE query LIKE '%sipHash64(number + 1)%' AND query_id != queryID()"
      return Number((await queryClickHouse(product.hostUrl, counted))[0]?.n)
    }
    await retryUntil(running, (count) => count === 1)
    left.abort()
    expect(await retryUntil(running, (count) => count === 0)).toBe(0)
  })
})

it('the command "watchhouse mcp" says how to reach a server if none responds', async () => {
  const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url))
  const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), WATCHHOUSE_URL: 'http://127.0.0.1:9' }
  const transport = new StdioClientTransport({ command: process.execPath, args: [program, 'mcp'], env })
  await expect(new Client(facts).connect(transport)).rejects.toThrow('no server responds at http://127.0.0.1:9')
  await transport.close()
})

describe('the inspector', () => {
  const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js'))
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-inspector-'))
    const servers = (['legacy', 'modern'] as const).map((era) => [
      era,
      { type: 'streamable-http', url: address().href, protocolEra: era },
    ])
    await writeFile(join(directory, 'mcp.json'), JSON.stringify({ mcpServers: Object.fromEntries(servers) }))
  })
  afterAll(() => rm(directory, { recursive: true }))

  const inspect = (era: string, ...words: string[]) =>
    new Promise<{ code: number; output: string }>((resolve) => {
      const rest = ['--cli', '--config', join(directory, 'mcp.json'), '--server', era, ...words, '--format', 'json']
      const env = { PATH: process.env.PATH, HOME: directory, MCP_INSPECTOR_SECRET_STORE: 'memory' }
      const child = execFile(process.execPath, [program, ...rest], { env }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
      )
    })

  it.each(['legacy', 'modern'])(
    'finds nothing in the schemas that strict clients refuse, in the %s era',
    async (era) => {
      const { code, output } = await inspect(era, '--method', 'tools/list', '--strict')
      expect(code, output).toBe(0)
      expect(output).toContain('analyze_performance')
      expect(output).toContain('0 errors')
    },
  )

  it.each([
    ['legacy', 'SELECT 7 AS seven', 0, 'seven'],
    ['modern', 'SELECT 7 AS seven', 0, 'seven'],
    ['modern', 'DROP TABLE a', toolFailed, 'must begin with'],
  ])('calls a tool in the %s era: %s', async (era, sql, expected, word) => {
    const { code, output } = await inspect(
      era,
      '--method',
      'tools/call',
      '--tool-name',
      'query',
      '--tool-arg',
      `sql=${sql}`,
    )
    expect(code, output).toBe(expected)
    expect(output).toContain(word)
  })
})
