import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { domainToASCII } from 'node:url'
import type { RequestHandler } from 'express'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Setting, url } from '#shared/config/setting.ts'
import { publicUrlSettings } from '../request/public-url.ts'
import type { Route } from '../http-route.ts'
import { trustsProxies } from '../request/client-address.ts'

const anyHost = '*'
const malformed =
  'must be host names such as watch.example.com or *.example.com, separated by commas, without scheme, port or path; or *'

const hostNames: Setting<readonly string[]> = {
  doc: 'Host names that callers without credentials may use, besides localhost, IP addresses, the name of the machine and the hosts of SVC_PUBLIC_URL and HEALTH_ALERT_DASHBOARD_URL. *.example.com allows every name below example.com, * every host.',
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

const dashboardDoc = 'Public address of the product; messages link to the health page below it.'

const httpUrl = url(dashboardDoc, { protocols: ['http', 'https'] })

/** Ignores a bad address, as the alert dispatcher does. */
const dashboardUrl: Setting<URL | undefined> = {
  ...httpUrl,
  parse: (given = '') => (URL.canParse(given) && /^https?:/i.test(given) ? httpUrl.parse(given) : undefined),
}

/** By which names callers without credentials may reach the product. */
export const allowedHostSettings = { SVC_ALLOWED_HOSTS: hostNames, HEALTH_ALERT_DASHBOARD_URL: dashboardUrl } as const

const patternOf = (item: string): string => {
  if (item === anyHost) return item
  const below = item.startsWith('*.') ? '*.' : ''
  const name = domainToASCII(item.slice(below.length))
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(name) || /[/:]/.test(item)) throw new Error(malformed)
  return below + name
}

type HostHeaders = Pick<IncomingMessage, 'headers'>

/** Applies `requireAllowedHost` to every path while callers need no credentials, except to routes that only a secret opens. */
export const guardHosts = (routes: readonly Route[], env: Environment, isOpen: () => boolean): RequestHandler => {
  const patterns = routes.filter(({ secretOnly }) => secretOnly).map(({ path }) => patternOfPath(path))
  return (request, _response, next) => {
    if (isOpen() && !patterns.some((pattern) => pattern.test(request.path))) requireAllowedHost(request, env)
    next()
  }
}

const patternOfPath = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

/**
 * Throws `forbidden` for a request by a name that is not known to be the product's. A page can make its own name lead to this
 * machine (DNS rebinding); the browser then takes the product for a part of that page's site, and the name in `Host` is the only sign of it.
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

/** A proxy may name itself in `Host` and the host that the browser requested in `X-Forwarded-Host`. HTTP/1.0, which no browser speaks, needs neither. */
const hostsIn = ({ host, 'x-forwarded-host': forwarded }: IncomingMessage['headers'], env: Environment): string[] => {
  const requested = trustsProxies(env) ? String(forwarded ?? '').split(',') : []
  return [...(host === undefined ? [] : [host]), ...requested.map((each) => each.trim()).filter((each) => each !== '')]
}

const isAllowed = (host: string, env: Environment): boolean => {
  const settings = read(namedSettings, env)
  const { SVC_ALLOWED_HOSTS: patterns, SVC_PUBLIC_URL: publicUrl, HEALTH_ALERT_DASHBOARD_URL: dashboard } = settings
  if (patterns.includes(anyHost)) return true
  const name = nameIn(host)
  if (name === undefined) return false
  if (isOfMachine(name) || name === publicUrl?.hostname || name === dashboard?.hostname) return true
  return patterns.some((pattern) => (pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern))
}

const namedSettings = { ...allowedHostSettings, ...publicUrlSettings }

/** The name in a Host header, as URLs write it, without its port; a URL would also take `user@host` and `host/path`. */
const nameIn = (host: string): string | undefined => {
  const isPlain = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)
  return isPlain ? URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') : undefined
}

/**
 * Names that no page of another site can have. Browsers keep `localhost` and all below it to the machine. An address is not
 * looked up, so nobody can make it lead elsewhere: probes, scrapes and published ports of containers need no setting.
 */
const isOfMachine = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
  name === hostname().toLowerCase()
