import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { randomUUID } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Setting } from '#shared/config/setting.ts'
import { isOnEdge } from './edge.ts'

const trustWords: Readonly<Record<string, boolean>> = { true: true, '1': true, cloud: true, false: false, '0': false }

/** Unlike other flags: `yes` and `on` do not count, as the configuration reference says. */
const trust: Setting<boolean | undefined> = {
  doc: 'Whether X-Real-IP and X-Forwarded-For name the client; unset, they do on the edge only. The edge header CF-Connecting-IP counts on the edge, and wherever this is on.',
  audience: 'server',
  fallback: 'unset',
  allowed: 'true/1/cloud, false/0',
  parse: (given) => trustWords[given?.trim().toLowerCase() ?? ''],
}

/** How the address of a client is known. */
export const addressSettings = { SVC_TRUST_PROXY_HEADERS: trust } as const

const { IPv4, IPv6 } = ipaddr
type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Whether the headers are believed that proxies add. */
export const trustsProxies = (env: Environment): boolean =>
  read(addressSettings, env).SVC_TRUST_PROXY_HEADERS ?? isOnEdge(env)

/**
 * What a client is counted under: its IPv4 address or IPv6 /64, the smallest network that providers hand out. A connection
 * without an address counts for itself, so that strangers do not use up one another's budget.
 */
export const clientAddress = ({ headers, socket }: IncomingMessage, env: Environment): string => {
  const onEdge = isOnEdge(env)
  const trusted = trustsProxies(env)
  const address =
    (onEdge || trusted ? addressIn(headers['cf-connecting-ip']) : undefined) ??
    (trusted ? (addressIn(headers['x-real-ip']) ?? forwardedFor(headers['x-forwarded-for'])) : undefined)
  return address ? networkOf(address) : ofConnection(socket)
}

const known = new WeakMap<Socket, string>()

/** Of the other end, which stays the same for all requests of a connection. */
const ofConnection = (socket: Socket): string => {
  const name = known.get(socket) ?? nameOf(socket)
  known.set(socket, name)
  return name
}

const nameOf = ({ remoteAddress }: Socket): string => {
  const address = addressIn(remoteAddress)
  return address ? networkOf(address) : `connection:${randomUUID()}`
}

/** An address as proxies write it, perhaps with a port; none of the odd numbers that are also read as addresses. */
const addressIn = (text: string | string[] | undefined): Address | undefined => {
  if (typeof text !== 'string') return undefined
  const bare = text
    .trim()
    .replace(/^\[(.+)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  return IPv4.isValidFourPartDecimal(bare) || IPv6.isValid(bare) ? ipaddr.process(bare) : undefined
}

/** Ranges of the proxies between the client and us. */
const internal = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'])

/**
 * Every proxy adds whom it heard from at the right, and what stands left of the first address from outside was the client's
 * to write. Within one network all addresses are internal; then the client is the leftmost.
 */
const forwardedFor = (text: string | string[] | undefined): Address | undefined => {
  if (typeof text !== 'string') return undefined
  let nearest: Address | undefined
  for (const hop of text.split(',').toReversed()) {
    const address = addressIn(hop)
    if (address === undefined) return nearest
    nearest = address
    if (!internal.has(address.range())) return nearest
  }
  return nearest
}

const networkOf = (address: Address): string => {
  if (address instanceof IPv4) return address.toString()
  const network = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
