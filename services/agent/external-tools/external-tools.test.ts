import { createClock } from '#shared/time/clock.ts'
import type { McpServer } from '@modelcontextprotocol/server'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import type { UserToolServer } from '#proto/external-tools.ts'
import { openNet } from '#shared/net/net.ts'
import { createUserCall } from '../models/testing/open-models.ts'
import { getToolAnnotations, type ToolContext } from '#shared/tools/tool.ts'
import type { AgentTool } from '../tool-sources.ts'
import { openExternalTools } from './external-tools.ts'
import { type FakeToolServer, startFakeToolServer } from './testing/fake-tool-server.ts'

const crawler = (server: McpServer): void => {
  const inputSchema = z.object({ url: z.string() })
  server.registerTool('firecrawl_scrape', { description: 'Reads a page.', inputSchema }, ({ url }) => ({
    content: [{ type: 'text', text: `page of ${url}` }],
  }))
  server.registerTool('firecrawl_search', { inputSchema: z.object({ query: z.string() }) }, ({ query }) => ({
    content: [{ type: 'text', text: `found ${query}` }],
  }))
}
const echo = (server: McpServer): void => {
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) =>
    text === 'fail' ? { isError: true, content: [{ type: 'text', text }] } : { content: [{ type: 'text', text }] },
  )
}

const started = async (...given: Parameters<typeof startFakeToolServer>): Promise<FakeToolServer> => {
  const server = await startFakeToolServer(...given)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

const open = (env: Record<string, string>) => {
  const clock = { nowMs: 1_000_000, now: () => clock.nowMs, elapsedMs: () => clock.nowMs }
  const logged: string[] = []
  const log = pino({}, { write: (line: string) => void logged.push(line) })
  const net = openNet({ env })
  const external = openExternalTools({ env, net, clock, log })
  onTestFinished(async () => {
    await external[Symbol.asyncDispose]()
    await net[Symbol.asyncDispose]()
  })
  const run = (tool: AgentTool | undefined, input: unknown) => {
    // External tools use only these fields of the context.
    const context = {
      call: { ...createUserCall(), deadline: Number.MAX_SAFE_INTEGER },
      clock,
    } as unknown as ToolContext
    return tool?.run(input, context)
  }
  return { external, clock, logged, env, run }
}

const privateAllowed = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }
const withoutCrawler = { ...privateAllowed, SVC_AGENT_WEB_CRAWL_MCP: 'false' }
const named = (id: string, endpoint: string): UserToolServer => ({ id, name: `Server ${id}`, endpoint })

describe('the web crawler', () => {
  it('provides prefixed, untrusted tools for every question', async () => {
    const { endpoint } = await started(crawler)
    const { external, run } = open({ SVC_AGENT_WEB_CRAWL_URL: endpoint })
    const tools = await external.tools([], createUserCall())
    expect(tools.map(({ name, kind, core }) => [name, kind, core, getToolAnnotations({ kind }).openWorldHint])).toEqual(
      [
        ['mcp_web_crawl__firecrawl_scrape', 'egress', false, true],
        ['mcp_web_crawl__firecrawl_search', 'egress', false, true],
      ],
    )
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['url'] })
    expect(tools[0]?.inputSchema).not.toHaveProperty('$schema')
    expect(await run(tools[0], { url: 'https://any.example/' })).toMatchObject({
      structured: { server: 'the web crawler', text: 'page of https://any.example/' },
    })
  })

  it('is not contacted when it is disabled', async () => {
    const server = await started(crawler)
    const { external } = open({ SVC_AGENT_WEB_CRAWL_URL: server.endpoint, SVC_AGENT_WEB_CRAWL_MCP: 'false' })
    expect(await external.tools([], createUserCall())).toEqual([])
    expect(server.requests).toBe(0)
  })

  it('reads only domains that are allowed at the time of the call', async () => {
    const server = await started(crawler)
    const { external, run, env } = open({ SVC_AGENT_WEB_CRAWL_URL: server.endpoint })
    const [scrape, search] = await external.tools([], createUserCall())
    env.SVC_AGENT_WEB_CRAWL_ALLOW_DOMAINS = 'example.com'
    const before = server.requests
    await expect(run(scrape, { url: 'https://evil.net/' })).rejects.toMatchObject({ code: 'forbidden' })
    expect(server.requests).toBe(before)
    expect(await run(scrape, { url: 'https://docs.example.com/' })).toMatchObject({ isError: false })
    expect(await run(search, { query: 'parts' })).toMatchObject({ structured: { text: 'found parts' } })
  })

  it('has its tool list refreshed in the background', async () => {
    const server = await started(crawler)
    const env = { SVC_AGENT_WEB_CRAWL_URL: server.endpoint, SVC_AGENT_INTEGRATION_PROBE_TTL_MS: '1000' }
    const { external, clock } = open(env)
    expect(await external.tools([], createUserCall())).toHaveLength(2)
    server.instead = (response) => response.writeHead(500).end()
    clock.nowMs += 1_000
    expect(await external.tools([], createUserCall())).toHaveLength(2)
    await expect.poll(() => external.tools([], createUserCall())).toEqual([])
  })

  it('does not affect the tools of other servers when it is unreachable', async () => {
    const { endpoint } = await started(echo)
    const { external, logged } = open({ ...privateAllowed, SVC_AGENT_WEB_CRAWL_URL: 'http://127.0.0.1:1/mcp' })
    const tools = await external.tools([named('docs', endpoint)], createUserCall())
    expect(tools.map(({ name }) => name)).toEqual(['mcp_docs__echo'])
    expect(logged.join()).toContain('MCP server unavailable')
  })
})

describe('a user-supplied MCP server', () => {
  it('provides its tools, with bounded and marked results', async () => {
    const { endpoint } = await started(echo)
    const { external, run } = open(withoutCrawler)
    const [tool] = await external.tools([named('docs', endpoint)], createUserCall())
    expect(await run(tool, { text: 'x'.repeat(20_000) })).toMatchObject({
      isError: false,
      structured: { text: 'x'.repeat(16_384), cut: true },
    })
    expect(await run(tool, { text: 'fail' })).toMatchObject({ isError: true })
    expect(await run(tool, { text: 7 })).toMatchObject({ isError: true })
    await expect(run(tool, { text: 'x'.repeat(40_000) })).rejects.toMatchObject({ code: 'too-large' })
    expect(tool).toMatchObject({ kind: 'egress', core: false })
  })

  it('receives no keys of the product', async () => {
    const server = await started(echo)
    const { external } = open({ ...withoutCrawler, LLM_API_KEY: 'sk-generic', GATEWAY_A_API_KEY: 'sk-a' })
    await external.tools([named('docs', server.endpoint)], createUserCall())
    expect(server.headers.join()).not.toMatch(/authorization|cookie|sk-/)
  })

  it.each([
    'http://127.0.0.1:8080/mcp',
    'http://localhost/mcp',
    'http://169.254.169.254/',
    'http://[::1]/',
    'http://10.0.0.1/',
  ])('is not contacted in internal networks: %s', async (endpoint) => {
    const { external } = open({ SVC_AGENT_WEB_CRAWL_MCP: 'off' })
    expect(await external.probe(named('docs', endpoint), createUserCall())).toMatchObject({
      ok: false,
      error: 'the address of Server docs is not allowed',
      tools: [],
    })
  })

  it.each<[string, Parameters<typeof startFakeToolServer>[1], RegExp]>([
    [
      'sends us elsewhere',
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
      /redirect, which is not followed/,
    ],
    ['requires a sign-in', (response) => response.writeHead(401).end(), /requires a sign-in/],
    ['fails', (response) => response.writeHead(500).end('SELECT secret'), /responded with status 500/],
    [
      'is none',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>secret'),
      /does not respond like an MCP server/,
    ],
    [
      'says too much',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(1_100_000)),
      /response too large/,
    ],
    ['is silent', () => undefined, /did not answer in time/],
  ])('that %s is reported without quoting its response', async (what, instead, says) => {
    const { endpoint } = await started(echo, instead)
    const timeoutMs = what === 'is silent' ? '400' : '30000'
    const { external } = open({ ...withoutCrawler, SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS: timeoutMs })
    const probed = await external.probe(named('docs', endpoint), createUserCall())
    expect(probed).toMatchObject({ ok: false, error: expect.stringMatching(says), tools: [] })
    expect(probed.error).not.toMatch(/secret|127\.0\.0\.1/)
    expect(await external.tools([named('docs', endpoint)], createUserCall())).toEqual([])
  })

  it('times out after SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS', async () => {
    const { endpoint } = await started(echo, () => undefined)
    const waitedMs = async (timeoutMs: string) => {
      const { external } = open({ ...withoutCrawler, SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS: timeoutMs })
      const began = performance.now()
      expect(await external.probe(named('docs', endpoint), createUserCall())).toMatchObject({ ok: false })
      return performance.now() - began
    }
    expect(await waitedMs('100')).toBeLessThan(1_500)
    expect(await waitedMs('1500')).toBeGreaterThan(1_450)
  })

  it('is contacted once per caller, and again when its tool list has expired', async () => {
    const server = await started(echo)
    const { external, clock } = open({ ...withoutCrawler, SVC_AGENT_INTEGRATION_PROBE_TTL_MS: '1000' })
    const isQueried = async (subject: string) => {
      const before = server.requests
      await external.tools([named('docs', server.endpoint)], createUserCall('user', subject))
      return server.requests > before
    }
    expect([await isQueried('ada'), await isQueried('ada'), await isQueried('eve')]).toEqual([true, false, true])
    clock.nowMs += 999
    expect(await isQueried('ada')).toBe(false)
    clock.nowMs += 1
    expect(await isQueried('ada')).toBe(true)
  })

  it('is always contacted by a probe, so that a repaired server is detected', async () => {
    const server = await started(echo, (response) => response.writeHead(500).end())
    const { external } = open(withoutCrawler)
    const ok = async () => (await external.probe(named('docs', server.endpoint), createUserCall())).ok
    expect(await ok()).toBe(false)
    server.instead = undefined
    expect(await external.tools([named('docs', server.endpoint)], createUserCall())).toEqual([])
    expect(await ok()).toBe(true)
    expect(await external.tools([named('docs', server.endpoint)], createUserCall())).toHaveLength(1)
  })

  it('reports its tools when it is probed', async () => {
    const { endpoint } = await started(crawler)
    const { external } = open(withoutCrawler)
    expect(await external.probe(named('docs', endpoint), createUserCall())).toMatchObject({
      ok: true,
      error: null,
      leftOut: 0,
      tools: [
        {
          name: 'firecrawl_scrape',
          title: 'firecrawl_scrape',
          description: 'Reads a page.',
        },
        { name: 'firecrawl_search' },
      ],
    })
  })

  it.each<[string, UserToolServer[], Identity['kind'], string]>([
    ['too many', Array.from({ length: 6 }, (_, at) => named(`s${at}`, 'https://x.example')), 'user', 'invalid'],
    ['called like the crawler', [named('web_crawl', 'https://x.example')], 'user', 'invalid'],
    ['two of one id', [named('s', 'https://x.example'), named('s', 'https://y.example')], 'user', 'invalid'],
    ['a guest’s', [named('s', 'https://x.example')], 'guest', 'forbidden'],
  ])('is rejected when it is %s', async (_, servers, kind, code) => {
    const { external } = open(withoutCrawler)
    await expect(external.tools(servers, createUserCall(kind))).rejects.toMatchObject({ code })
  })

  it('is cancelled with its call', async () => {
    const hanging = await started(echo)
    const { external } = open(withoutCrawler)
    const [tool] = await external.tools([named('docs', hanging.endpoint)], createUserCall())
    const leaving = new AbortController()
    const context = {
      call: { ...createUserCall(), signal: leaving.signal },
      clock: createClock(() => 0),
    } as unknown as ToolContext
    const running = tool?.run({ text: 'a' }, context)
    leaving.abort(new Error('gone'))
    await expect(running).rejects.toThrow('gone')
    await expect.poll(() => hanging.requests).toBeGreaterThan(0)
  })
})
