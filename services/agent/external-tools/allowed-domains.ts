import type { Setting } from '#shared/config/setting.ts'

/** The operator's list of external calls that need no approval. */
export interface EgressAllowlist {
  /** Names of crawler tools; a trailing `*` matches all names with this prefix. */
  tools: readonly string[]
  domains: AllowedDomains
}

/** Prefix of the names of crawler tools. */
const crawlerPrefix = 'mcp_web_crawl__'

/**
 * Returns a setting of comma-separated tools and hosts, such as `mcp_web_crawl__firecrawl_search`, `mcp_web_crawl__*`,
 * `example.com` and `*.example.com`.
 */
export const createEgressAllowlistSetting = (doc: string): Setting<EgressAllowlist> => ({
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
    `must be hosts or crawler tools such as ${crawlerPrefix}firecrawl_search; invalid: ${JSON.stringify(entry)}; allow other servers by their host`,
  )
}

/** Returns whether a crawler call needs no approval, because the list has its tool or the hosts of all its URLs. */
export const isCrawlAllowed = (name: string, input: unknown, { tools, domains }: EgressAllowlist): boolean =>
  tools.some((entry) => (entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry)) ||
  isLimitedToDomains(input, domains)

/** Returns whether calls of a user-supplied server need no approval, because its host is on the list. */
export const isServerAllowed = ({ hostname }: URL, { domains }: EgressAllowlist): boolean =>
  isAllowedHost(hostname.replace(/\.$/, ''), domains)

/** An allowed host and its subdomains. `itself` is false if only the subdomains are allowed. */
interface AllowedDomain {
  host: string
  itself: boolean
}

/** Allowed hosts; an empty list allows all. */
type AllowedDomains = readonly AllowedDomain[]

/** Returns a setting of comma-separated hosts. `example.com` includes its subdomains, `*.example.com` only those. */
export const createAllowedDomainsSetting = (doc: string): Setting<AllowedDomains> => ({
  doc,
  audience: 'server',
  fallback: '',
  allowed: 'comma-separated hosts',
  parse: (input) =>
    (input ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(parseDomain),
})

/** Parses one entry. Throws if it is not a host. */
const parseDomain = (entry: string): AllowedDomain => {
  const name = entry.replace(/^\*\./, '')
  // `URL` also accepts users, ports and paths, which could hide the host that would actually be allowed.
  const host = /^[\p{L}\p{N}.-]+$/u.test(name) ? normalizeHost(`http://${name}/`) : undefined
  if (host === undefined) {
    throw new Error(`must be hosts such as example.com or *.example.com; invalid: ${JSON.stringify(entry)}`)
  }
  return { host, itself: name === entry }
}

/**
 * Returns the normalized host of a URL: lower case, ASCII, no trailing dot. Undefined if the URL is invalid or contains
 * credentials or backslashes, because parsers disagree about the host of such URLs.
 */
const normalizeHost = (address: string): string | undefined => {
  if (address.includes('\\') || !URL.canParse(address)) return undefined
  const { hostname, username, password } = new URL(address)
  return username === '' && password === '' ? hostname.replace(/\.$/, '') || undefined : undefined
}

const isAllowedHost = (host: string, domains: AllowedDomains): boolean =>
  domains.some((domain) => (domain.itself && host === domain.host) || host.endsWith(`.${domain.host}`))

/**
 * Returns why a crawler call is forbidden; undefined if it is allowed. All URLs in its arguments must have an allowed
 * host. A call without a URL is allowed only if it is a search or requests the status of an earlier call.
 */
export const findCrawlRefusalReason = (tool: string, input: unknown, domains: AllowedDomains): string | undefined => {
  if (domains.length === 0) return undefined
  const hosts = collectUrls(input).map(normalizeHost)
  if (hosts.includes(undefined)) return 'invalid URL in the arguments'
  const refused = hosts.find((host) => host !== undefined && !isAllowedHost(host, domains))
  if (refused !== undefined) return `host "${refused}" is not allowed; allowed hosts: ${formatDomains(domains)}`
  const option = roamingOptions.find((word) => isOptionSet(input, word))
  if (option !== undefined)
    return `option "${option}" is not allowed: it can read hosts that no argument names; omit it`
  if (roamingTools.test(tool))
    return `tool "${tool}" is not allowed: it can read hosts that no argument names; allowed hosts: ${formatDomains(domains)}`
  if (hosts.length > 0 || /search|status/i.test(tool)) return undefined
  return `missing URL: name the page to read; allowed hosts: ${formatDomains(domains)}`
}

/** Returns whether all URLs of a call are on these hosts, and its options cannot reach other hosts. */
const isLimitedToDomains = (input: unknown, domains: AllowedDomains): boolean => {
  if (typeof input !== 'object' || input === null) return false
  const entries = Object.entries(input)
  const isNaming = ([name]: [string, unknown]): boolean => name === 'url' || name === 'urls'
  const addresses = entries.filter(isNaming).flatMap(([, value]) => value)
  return (
    addresses.length > 0 &&
    addresses.every((address) => isUrlOnDomain(address, domains)) &&
    entries.every((entry) => isNaming(entry) || harmlessOptions.get(entry[0])?.(entry[1]) === true)
  )
}

const isUrlOnDomain = (address: unknown, domains: AllowedDomains): boolean => {
  const host = typeof address === 'string' && /^https?:\/\/\S+$/i.test(address) ? normalizeHost(address) : undefined
  return host !== undefined && isAllowedHost(host, domains)
}

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value)
const pageFormats: ReadonlySet<unknown> = new Set(['markdown', 'html', 'rawHtml', 'links', 'summary', 'text'])

/**
 * Validators of the crawler options that only affect how a page is read, keyed by option. Any other option may reach
 * other hosts.
 */
const harmlessOptions: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['formats', (value: unknown) => Array.isArray(value) && value.every((format) => pageFormats.has(format))],
  ['onlyMainContent', isBoolean],
  ['mobile', isBoolean],
  ['waitFor', isCount],
  ['timeout', isCount],
  ['maxAge', isCount],
  ['limit', isCount],
])

const maxListedDomains = 5

const formatDomains = (domains: AllowedDomains): string => {
  const names = domains.slice(0, maxListedDomains).map(({ host, itself }) => (itself ? host : `*.${host}`))
  return domains.length > maxListedDomains ? `${names.join(', ')} and others` : names.join(', ')
}

/** Crawler options that can read pages other than those in the arguments. */
const roamingOptions = ['scrapeOptions', 'allowExternalLinks', 'enableWebSearch', 'webhook', 'actions', 'code'] as const
/** Crawler tools that choose the pages to read on their own. */
const roamingTools = /agent(?!_status)|browser|interact/i

const isOptionSet = (input: unknown, word: string): boolean => {
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(input).some(
    ([name, value]) => (name === word && value !== false && value != null) || isOptionSet(value, word),
  )
}

/** Fields whose values are URLs, even without a scheme. */
const urlFieldName = /^(?:urls?|links?|website|domain|host)$/i
const urlScheme = /[a-z][a-z\d+.-]*:\/\//i
const urlInText = /(?:[a-z][a-z\d+.-]*:)?\/\/[^\s"'<>)\]}]+/gi

/** Returns all URLs in a value, at any depth. */
const collectUrls = (input: unknown, field = ''): string[] => {
  if (typeof input === 'string') return findUrlsInText(input.trim(), field)
  if (Array.isArray(input)) return input.flatMap((each) => collectUrls(each, field))
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([name, value]) => collectUrls(value, name))
}

const findUrlsInText = (text: string, field: string): string[] => {
  if (!urlFieldName.test(field)) return (text.match(urlInText) ?? []).map((found) => found.replace(/^\/\//, 'http://'))
  if (text === '') return []
  return [urlScheme.test(text) ? text : `http://${text}`]
}
