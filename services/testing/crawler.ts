import { z } from 'zod'
import { startFakeToolServer } from '../agent/external/testing/fake-tool-server.ts'

/** A web crawler that records what reaches it. */
export interface Crawler extends AsyncDisposable {
  /** The variables with which the product calls it. */
  readonly variables: Record<string, string>
  /** Arguments of every call, in order; a test may empty it. */
  readonly sent: unknown[]
}

/** Starts a crawler whose every page and search result is this text. */
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
