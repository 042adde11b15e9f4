import { z } from 'zod'
import { startFakeToolServer } from '../agent/external-tools/testing/fake-tool-server.ts'

/** A fake web crawler that records its tool calls. */
export interface Crawler extends AsyncDisposable {
  /** Environment variables that make the product use this crawler. */
  readonly variables: Record<string, string>
  /** Arguments of all tool calls, in order. Tests may clear the list. */
  readonly sent: unknown[]
}

/** Starts a crawler that returns the text `page` for every URL and every search. */
export const startCrawler = async (page: string): Promise<Crawler> => {
  const sent: unknown[] = []
  const answer = (input: unknown) => {
    sent.push(input)
    return { content: [{ type: 'text' as const, text: page }] }
  }
  const server = await startFakeToolServer((offered) => {
    offered.registerTool('firecrawl_scrape', { inputSchema: z.looseObject({ url: z.string() }) }, answer)
    offered.registerTool('firecrawl_search', { inputSchema: z.looseObject({ query: z.string() }) }, answer)
  })
  return {
    variables: { SVC_AGENT_WEB_CRAWL_MCP: 'true', SVC_AGENT_WEB_CRAWL_URL: server.endpoint },
    sent,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
