import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { domainToASCII } from 'node:url'
import type { RequestHandler } from 'express'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type Setting, urlSetting } from '#shared/config/setting.ts'
import { publicUrlSettings } from '../request/public-url.ts'
import type { Route } from '../http-route.ts'
import { shouldTrustProxies } from '../request/client-address.ts'

const anyHost = '*'
const malformedHostsMessage =
  'must be host names such as watch.example.com or *.example.com, separated by commas, without scheme, port or path; or *'

const hostNames: Setting<readonly string[]> = {
  doc: 'Host names allowed for callers without credentials, in addition to localhost, IP addresses, the machine name and the hosts of SVC_PUBLIC_URL and HEALTH_ALERT_DASHBOARD_URL. *.example.com allows all subdomains, * all hosts.',
  audience: 'server',
  fallback: 'none',
  allowed: 'comma-separated host names, *.example.com, *',
  parse: (given) =>
    (given ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(patternOf),
}

const dashboardDoc = 'Public URL of the dashboard; messages link to its health page.'

const httpUrl = urlSetting(dashboardDoc, { protocols: ['http', 'https'] })

/** A setting that ignores an invalid URL, as `alert-dispatcher` does. */
const dashboardUrl: Setting<URL | undefined> = {
  ...httpUrl,
  parse: (given = '') => (URL.canParse(given) && /^https?:/i.test(given) ? httpUrl.parse(given) : undefined),
}

/** Settings that allow host names for callers without credentials. */
export const allowedHostSettings = { SVC_ALLOWED_HOSTS: hostNames, HEALTH_ALERT_DASHBOARD_URL: dashboardUrl } as const

const patternOf = (item: string): string => {
  if (item === anyHost) return item
  const below = item.startsWith('*.') ? '*.' : ''
  const name = domainToASCII(item.slice(below.length))
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(name) || /[/:]/.test(item)) throw new Error(malformedHostsMessage)
  return below + name
}

type HostHeaders = Pick<IncomingMessage, 'headers'>

/** Applies `requireAllowedHost` to every path while callers need no credentials, except to `secretOnly` routes. */
export const createAllowedHostGuard = (
  routes: readonly Route[],
  env: Environment,
  isOpen: () => boolean,
): RequestHandler => {
  const patterns = routes.filter(({ secretOnly }) => secretOnly).map(({ path }) => patternOfPath(path))
  return (request, _response, next) => {
    if (isOpen() && !patterns.some((pattern) => pattern.test(request.path))) requireAllowedHost(request, env)
    next()
  }
}

const patternOfPath = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

/**
 * Throws `forbidden` for a request with a host name that is not allowed. A page can make its own name resolve to this
 * machine (DNS rebinding). The browser then treats the product as part of the site of that page, and only the `Host`
 * header contains the name of that page.
 */
export const requireAllowedHost = ({ headers }: HostHeaders, env: Environment): void => {
  for (const host of hostsIn(headers, env)) {
    if (isAllowed(host, env)) continue
    throw new ServiceError(
      'forbidden',
      `host not allowed: "${host.slice(0, maxQuoted)}"; add its name to SVC_ALLOWED_HOSTS, or set SVC_PUBLIC_URL`,
    )
  }
}

const maxQuoted = 100

/**
 * Returns the hosts in `Host` and, behind a trusted proxy, in `X-Forwarded-Host`: the proxy may put its own name into
 * `Host`. Empty if both are absent, which HTTP/1.0 allows.
 */
const hostsIn = ({ host, 'x-forwarded-host': forwarded }: IncomingMessage['headers'], env: Environment): string[] => {
  const requested = shouldTrustProxies(env) ? String(forwarded ?? '').split(',') : []
  return [...(host === undefined ? [] : [host]), ...requested.map((each) => each.trim()).filter((each) => each !== '')]
}

const isAllowed = (host: string, env: Environment): boolean => {
  const settings = parseSettings(namedSettings, env)
  const { SVC_ALLOWED_HOSTS: patterns, SVC_PUBLIC_URL: publicUrl, HEALTH_ALERT_DASHBOARD_URL: dashboard } = settings
  if (patterns.includes(anyHost)) return true
  const name = nameIn(host)
  if (name === undefined) return false
  if (isLocalName(name) || name === publicUrl?.hostname || name === dashboard?.hostname) return true
  return patterns.some((pattern) => (pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern))
}

const namedSettings = { ...allowedHostSettings, ...publicUrlSettings }

/**
 * Returns the normalized name in a Host header without the port; undefined for `user@host` and `host/path`, which the
 * URL parser accepts.
 */
const nameIn = (host: string): string | undefined => {
  const isPlain = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)
  return isPlain ? URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') : undefined
}

/**
 * Returns true for names that no page of another site can have. Browsers resolve `localhost` and its subdomains to
 * the local machine. IP addresses are not resolved, so DNS rebinding cannot use them. Probes, scrapes and published
 * ports therefore need no setting.
 */
const isLocalName = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
  name === hostname().toLowerCase()
