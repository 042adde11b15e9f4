import type { Setting } from '#shared/config/setting.ts'

/** What may be sent to external servers without an approval. */
export interface AllowedEgress {
  /** Names of the crawler's tools as models call them; one that ends in `*` stands for all that begin so. */
  tools: readonly string[]
  domains: AllowedDomains
}

/** Names of the crawler's tools begin so. */
const crawlerPrefix = 'mcp_web_crawl__'

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

/** A host that may be read, and whether it is itself one or only what is below it. */
interface AllowedDomain {
  host: string
  itself: boolean
}

/** Hosts that may be read; none means all. */
type AllowedDomains = readonly AllowedDomain[]

/** Comma-separated hosts: `example.com` with all below it, `*.example.com` without itself. */
export const allowedDomains = (doc: string): Setting<AllowedDomains> => ({
  doc,
  audience: 'server',
  fallback: '',
  allowed: 'comma-separated hosts',
  parse: (given) =>
    (given ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(parseDomain),
})

/** One entry of such a list; throws for what is no host. */
const parseDomain = (entry: string): AllowedDomain => {
  const name = entry.replace(/^\*\./, '')
  // Whatever a parser reads beyond a host was not meant as one, and would allow another than it seems to.
  const host = /^[\p{L}\p{N}.-]+$/u.test(name) ? hostOf(`http://${name}/`) : undefined
  if (host === undefined) {
    throw new Error(`must be hosts such as example.com or *.example.com, which ${JSON.stringify(entry)} is not`)
  }
  return { host, itself: name === entry }
}

/** The host of an address as it is looked up: in lower case, without a dot at its end, in ASCII. Undefined where readers may differ. */
const hostOf = (address: string): string | undefined => {
  if (address.includes('\\') || !URL.canParse(address)) return undefined
  const { hostname, username, password } = new URL(address)
  return username === '' && password === '' ? hostname.replace(/\.$/, '') || undefined : undefined
}

const isAllowed = (host: string, domains: AllowedDomains): boolean =>
  domains.some((domain) => (domain.itself && host === domain.host) || host.endsWith(`.${domain.host}`))

/**
 * Why a call to the crawler may not be made; undefined when it may. Every address anywhere in its arguments must lead to an allowed
 * host. A call without any is allowed when it only searches, or asks about what was allowed before.
 */
export const refusalOf = (tool: string, given: unknown, domains: AllowedDomains): string | undefined => {
  if (domains.length === 0) return undefined
  const hosts = addressesIn(given).map(hostOf)
  if (hosts.includes(undefined)) return 'an address among the arguments cannot be read'
  const refused = hosts.find((host) => host !== undefined && !isAllowed(host, domains))
  if (refused !== undefined) return `${refused} may not be read here; the operator allows ${shown(domains)}`
  const beyond = wordsBeyond.find((word) => isAskedFor(given, word))
  if (beyond !== undefined) return `${beyond} would read hosts that nobody named; leave it out`
  if (roaming.test(tool)) return `${tool} may read hosts that nobody named; the operator allows ${shown(domains)}`
  if (hosts.length > 0 || /search|status/i.test(tool)) return undefined
  return `name the address to read; the operator allows ${shown(domains)}`
}

/** Whether all that a call says is which addresses to read, all of them on these hosts, and options that lead nowhere else. */
const readsOnly = (given: unknown, domains: AllowedDomains): boolean => {
  if (typeof given !== 'object' || given === null) return false
  const entries = Object.entries(given)
  const isNaming = ([name]: [string, unknown]): boolean => name === 'url' || name === 'urls'
  const addresses = entries.filter(isNaming).flatMap(([, value]) => value)
  return (
    addresses.length > 0 &&
    addresses.every((address) => isAddressOn(address, domains)) &&
    entries.every((entry) => isNaming(entry) || harmless.get(entry[0])?.(entry[1]) === true)
  )
}

const isAddressOn = (address: unknown, domains: AllowedDomains): boolean => {
  const host = typeof address === 'string' && /^https?:\/\/\S+$/i.test(address) ? hostOf(address) : undefined
  return host !== undefined && isAllowed(host, domains)
}

const isSwitch = (value: unknown): boolean => typeof value === 'boolean'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value)
const pageFormats: ReadonlySet<unknown> = new Set(['markdown', 'html', 'rawHtml', 'links', 'summary', 'text'])

/** Options of crawlers that say how a page is read, with the values that they may have; other options may make them read elsewhere. */
const harmless: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['formats', (value: unknown) => Array.isArray(value) && value.every((format) => pageFormats.has(format))],
  ['onlyMainContent', isSwitch],
  ['mobile', isSwitch],
  ['waitFor', isCount],
  ['timeout', isCount],
  ['maxAge', isCount],
  ['limit', isCount],
])

const mostShown = 5

const shown = (domains: AllowedDomains): string => {
  const names = domains.slice(0, mostShown).map(({ host, itself }) => (itself ? host : `*.${host}`))
  return domains.length > mostShown ? `${names.join(', ')} and others` : names.join(', ')
}

/** Options of crawlers that make them read what no argument names. */
const wordsBeyond = ['scrapeOptions', 'allowExternalLinks', 'enableWebSearch', 'webhook', 'actions', 'code'] as const
/** Tools of crawlers that choose themselves what they read. */
const roaming = /agent(?!_status)|browser|interact/i

const isAskedFor = (given: unknown, word: string): boolean => {
  if (typeof given !== 'object' || given === null) return false
  return Object.entries(given).some(
    ([name, value]) => (name === word && value !== false && value != null) || isAskedFor(value, word),
  )
}

/** Fields that hold addresses even where they are written without a scheme. */
const addressField = /^(?:urls?|links?|website|domain|host)$/i
const scheme = /[a-z][a-z\d+.-]*:\/\//i
const inText = /(?:[a-z][a-z\d+.-]*:)?\/\/[^\s"'<>)\]}]+/gi

/** Every address that stands in a value, however deep. */
const addressesIn = (given: unknown, field = ''): string[] => {
  if (typeof given === 'string') return addressesInText(given.trim(), field)
  if (Array.isArray(given)) return given.flatMap((each) => addressesIn(each, field))
  if (typeof given !== 'object' || given === null) return []
  return Object.entries(given).flatMap(([name, value]) => addressesIn(value, name))
}

const addressesInText = (text: string, field: string): string[] => {
  if (!addressField.test(field)) return (text.match(inText) ?? []).map((found) => found.replace(/^\/\//, 'http://'))
  if (text === '') return []
  return [scheme.test(text) ? text : `http://${text}`]
}
