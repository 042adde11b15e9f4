import { flag, url, whole } from '#shared/config/setting.ts'
import { allowedDomains, allowedEgress } from './allowed-domains.ts'

/** Which tool servers of others the agent may use. */
export const externalSettings = {
  SVC_AGENT_WEB_CRAWL_MCP: flag(true, 'Let the agent search and read the web through a hosted tool server.'),
  SVC_AGENT_WEB_CRAWL_URL: url(
    'The tool server that the agent reads the web through; https://mcp.firecrawl.dev/v2/mcp by default.',
    {
      protocols: ['https', 'http'],
    },
  ),
  SVC_AGENT_WEB_CRAWL_ALLOW_DOMAINS: allowedDomains(
    'Hosts that may be read through it, all when empty: example.com and what is below it, *.example.com only what is below it. Searches that name no address stay allowed.',
  ),
  SVC_AGENT_EGRESS_ALLOWED: allowedEgress(
    'Calls of external tool servers that need no approval once tools have read from hosts, none when empty: a tool of the crawler by its name, mcp_web_crawl__firecrawl_search or mcp_web_crawl__* for all; a host, example.com or *.example.com, for crawler calls that read it alone and for servers that callers bring there. Arguments that contain text read from a host need an approval all the same.',
  ),
  SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS: whole(
    3_000,
    'How long a tool server may take to say what it offers, in milliseconds.',
    { min: 100, max: 60_000 },
  ),
  SVC_AGENT_INTEGRATION_PROBE_TTL_MS: whole(
    300_000,
    'How long what a tool server said, or that it said nothing, is believed, in milliseconds.',
    { max: 86_400_000 },
  ),
} as const

/** Asked without a key, as its makers offer it. */
export const defaultWebCrawl = new URL('https://mcp.firecrawl.dev/v2/mcp')
