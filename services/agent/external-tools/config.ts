import { flagSetting, urlSetting, wholeNumberSetting } from '#shared/config/setting.ts'
import { createAllowedDomainsSetting, createEgressAllowlistSetting } from './allowed-domains.ts'

/** Settings for external MCP servers. */
export const externalSettings = {
  SVC_AGENT_WEB_CRAWL_MCP: flagSetting(true, 'Allow the agent to search and read the web through a hosted MCP server.'),
  SVC_AGENT_WEB_CRAWL_URL: urlSetting(
    'MCP server for web access of the agent; https://mcp.firecrawl.dev/v2/mcp by default.',
    {
      protocols: ['https', 'http'],
    },
  ),
  SVC_AGENT_WEB_CRAWL_ALLOW_DOMAINS: createAllowedDomainsSetting(
    'Domains that the agent may read, all when empty: example.com includes its subdomains, *.example.com means subdomains only. Searches without a URL stay allowed.',
  ),
  SVC_AGENT_EGRESS_ALLOWED: createEgressAllowlistSetting(
    'Calls of external MCP servers that need no approval after tools have read from hosts; none when empty. Entries: a crawler tool, such as mcp_web_crawl__firecrawl_search or mcp_web_crawl__*; or a domain, example.com or *.example.com, for crawler calls that read only that domain and for user-supplied servers there. Arguments that contain text read from a host always need approval.',
  ),
  SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS: wholeNumberSetting(
    3_000,
    'Timeout for listing the tools of an external MCP server, in milliseconds.',
    { min: 100, max: 60_000 },
  ),
  SVC_AGENT_INTEGRATION_PROBE_TTL_MS: wholeNumberSetting(
    300_000,
    'Cache lifetime of the tool list, or of a failure to fetch it, of an external MCP server, in milliseconds.',
    { max: 86_400_000 },
  ),
} as const

/** The default endpoint of the web crawler, which needs no key. */
export const defaultWebCrawlUrl = new URL('https://mcp.firecrawl.dev/v2/mcp')
