import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import ipaddr from 'ipaddr.js'
import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type Setting, wholeNumberSetting, flagSetting } from '#shared/config/setting.ts'
import { createHeaderNameSetting } from './header.ts'

const trustWords: Readonly<Record<string, boolean>> = { true: true, '1': true, cloud: true, false: false, '0': false }

/** Accepts fewer values than other flags: `yes` and `on` are ignored, as the configuration reference defines. */
const trust: Setting<boolean | undefined> = {
  doc: 'Whether to trust proxy headers such as X-Forwarded-For and X-Real-IP. Unset: trusted on the edge only, where CF-Connecting-IP always identifies the client.',
  audience: 'server',
  fallback: 'unset',
  allowed: 'true/1/cloud, false/0',
  parse: (given) => trustWords[given?.trim().toLowerCase() ?? ''],
}

const forwardedFor = 'x-forwarded-for'
const edgeHeader = 'cf-connecting-ip'
/** Headers in which common proxies name the client. */
const usualHeaders = [forwardedFor, 'x-real-ip', edgeHeader]

const namedHeader = createHeaderNameSetting(
  forwardedFor,
  'Header that identifies the client, such as X-Forwarded-For, X-Real-IP or CF-Connecting-IP; all others are ignored. Clients can send it too: use a header that your proxy sets on every request.',
)

const addressHeader: Setting<string | undefined> = {
  ...namedHeader,
  fallback: 'X-Forwarded-For; on the edge CF-Connecting-IP',
  parse: (given) => (given === undefined ? undefined : namedHeader.parse(given.trim())),
}

/** Settings that define how the client address is determined. */
export const clientAddressSettings = {
  SVC_TRUST_PROXY_HEADERS: trust,
  SVC_CLIENT_ADDRESS_HEADER: addressHeader,
  SVC_TRUSTED_PROXY_HOPS: wholeNumberSetting(
    1,
    'Number of trusted proxies in front of the service, such as 2 for load balancer and ingress. The client is this many entries from the right of X-Forwarded-For. Ignored for single-value headers such as X-Real-IP.',
    { min: 1, max: 16 },
  ),
} as const

const { IPv4, IPv6 } = ipaddr
type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Returns true if headers of proxies are trusted. */
export const shouldTrustProxies = (env: Environment): boolean =>
  parseSettings(clientAddressSettings, env).SVC_TRUST_PROXY_HEADERS ?? isEdgeRuntime(env)

/**
 * Returns the rate limit key of a client: its IPv4 address, or its IPv6 /64, the smallest network that providers
 * assign. A connection without an address gets a key of its own, so that such clients do not share a budget.
 */
export const resolveRateLimitKey = ({ headers, socket }: IncomingMessage, env: Environment): string => {
  const address = namedAddress(headers, env)
  return address ? networkOf(address) : keyOfConnection(socket)
}

/** Returns the network of a client, in which it can easily get other addresses: /24 for IPv4, /64 for IPv6. */
export const resolveClientNetwork = (request: IncomingMessage, env: Environment): string =>
  resolveRateLimitKey(request, env).replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1.0/24')

/** Returns the address in the trusted header; undefined if there is none. */
const namedAddress = (headers: IncomingHttpHeaders, env: Environment): Address | undefined => {
  const name = addressHeaderIn(headers, env)
  if (name === undefined) return undefined
  // Proxies append to Forwarded-For headers and replace the value of all others.
  const hops = name.endsWith('forwarded-for') ? readTrustedProxyHops(env) : 1
  return addressIn(selectForwardedEntry(headers[name], hops))
}

/** Returns the header that names the client; undefined if no header is trusted. */
const addressHeaderIn = (headers: IncomingHttpHeaders, env: Environment): string | undefined => {
  const { SVC_CLIENT_ADDRESS_HEADER: chosen } = parseSettings(clientAddressSettings, env)
  const isTrusted = shouldTrustProxies(env)
  if (isTrusted && chosen !== undefined) return chosen
  // The edge platform overwrites this header in every request, so clients cannot forge it.
  if (isEdgeRuntime(env) && headers[edgeHeader] !== undefined) return edgeHeader
  return isTrusted ? forwardedFor : undefined
}

/** Warns once if a proxy sets an address header other than the trusted one, because all clients then share a budget. */
export const warnOfOtherAddressHeader = (env: Environment, log: Logger): RequestHandler => {
  let hasWarned = false
  return ({ headers }, _response, next) => {
    const header = hasWarned ? undefined : addressHeaderIn(headers, env)
    const present = usualHeaders.find((name) => headers[name] !== undefined)
    if (header !== undefined && headers[header] === undefined && present !== undefined) {
      hasWarned = true
      const reason =
        'clients count under the address of the proxy; set SVC_CLIENT_ADDRESS_HEADER to the header that it sets'
      log.warn({ header, present, reason }, 'client address header missing')
    }
    next()
  }
}

/**
 * Returns the entry that the outermost trusted proxy added, or the first entry if there are fewer than `hops`. Every
 * proxy appends the address of its peer at the right, so the client controls everything further left.
 */
export const selectForwardedEntry = (list: string | string[] | undefined, hops: number): string | undefined => {
  const entries = String(list ?? '').split(',')
  return (entries.at(-hops) ?? entries[0])?.trim() || undefined
}

/** Returns the number of trusted proxies between the client and the product. */
export const readTrustedProxyHops = (env: Environment): number =>
  parseSettings(clientAddressSettings, env).SVC_TRUSTED_PROXY_HOPS

const connectionKeys = new WeakMap<Socket, string>()

/** Returns the rate limit key of the peer, which is the same for all requests of a connection. */
const keyOfConnection = (socket: Socket): string => {
  const name = connectionKeys.get(socket) ?? nameOf(socket)
  connectionKeys.set(socket, name)
  return name
}

const nameOf = ({ remoteAddress }: Socket): string => {
  const address = addressIn(remoteAddress)
  return address ? networkOf(address) : `connection:${randomUUID()}`
}

/** Parses an address with an optional port. Rejects the octal and hexadecimal forms that parsers also accept. */
const addressIn = (text: string | undefined): Address | undefined => {
  if (text === undefined) return undefined
  const bare = text
    .trim()
    .replace(/^\[(.+)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  return IPv4.isValidFourPartDecimal(bare) || IPv6.isValid(bare) ? ipaddr.process(bare) : undefined
}

const networkOf = (address: Address): string => {
  if (address instanceof IPv4) return address.toString()
  const network = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

/** Variables that the edge platform sets in its runtime. */
export const edgeSettings = {
  EDGE_WORKERS: flagSetting(false, 'Set by the edge platform: runs as a worker.'),
  EDGE_PAGES: flagSetting(false, 'Set by the edge platform: runs as pages.'),
  EDGE_LOCAL_EMULATOR: flagSetting(false, 'Set by the emulator of the edge platform.'),
} as const

/** Returns true if the edge platform runs this process. */
export const isEdgeRuntime = (env: Environment): boolean => {
  const { EDGE_WORKERS, EDGE_PAGES, EDGE_LOCAL_EMULATOR } = parseSettings(edgeSettings, env)
  return EDGE_WORKERS || EDGE_PAGES || EDGE_LOCAL_EMULATOR
}
