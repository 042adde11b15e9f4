import type { Setting } from '#shared/config/setting.ts'
import { type AllowedDomains, isAllowed, parseDomain, readsOnly } from './allowed-domains.ts'

/** What may be sent to external servers without an approval. */
export interface AllowedEgress {
  /** Names of the crawler's tools as models call them; one that ends in `*` stands for all that begin so. */
  tools: readonly string[]
  domains: AllowedDomains
}

/** Names of the crawler's tools begin so. */
export const crawlerPrefix = 'mcp_web_crawl__'

/** Comma-separated names of tools and hosts: `mcp_web_crawl__firecrawl_search`, `mcp_web_crawl__*`, `example.com`, `*.example.com`. */
export const allowedEgress = (doc: string): Setting<AllowedEgress> => ({
  doc,
  audience: 'server',
  fallback: '',
  allowed: 'comma-separated names of tools and hosts',
  parse: (text) => {
    const entries = (text ?? '').split(',').flatMap((entry) => entry.trim() || [])
    const isTool = (entry: string) => entry.startsWith('mcp_')
    return {
      tools: entries.filter(isTool).map(parseTool),
      domains: entries.filter((entry) => !isTool(entry)).map(parseDomain),
    }
  },
})

const parseTool = (entry: string): string => {
  if (/^mcp_web_crawl__(?:[\w-]+|[\w-]*\*)$/.test(entry)) return entry
  throw new Error(
    `must be hosts and tools of the crawler such as ${crawlerPrefix}firecrawl_search, which ${JSON.stringify(entry)} is not; allow another server by its host`,
  )
}

/** Whether a call of the crawler is on the list: its tool by name, or every host that it reads. */
export const isCrawlAllowed = (name: string, input: unknown, { tools, domains }: AllowedEgress): boolean =>
  tools.some((entry) => (entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry)) ||
  readsOnly(input, domains)

/** Whether a server that a caller brings is on the list, by its own host. */
export const isServerAllowed = ({ hostname }: URL, { domains }: AllowedEgress): boolean =>
  isAllowed(hostname.replace(/\.$/, ''), domains)
