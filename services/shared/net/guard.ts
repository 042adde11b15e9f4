import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Environment } from '../config/environment.ts'
import { mayReach, type Reach } from './address.ts'
import { allowsPrivateHosts } from './config.ts'
import { NetFailure, unknownName } from './failure.ts'
import { forms, isServicePort, type Purpose } from './purposes.ts'

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
])
/** Names that mean something inside a network only. */
const internalSuffixes = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'home.arpa',
  'svc',
  'cluster.local',
  'corp',
  'home',
  'intranet',
  'lan',
  'private',
]

/** What a name in lower case says before anybody resolves it: the second wall behind the check of its addresses. */
const reachOfName = (name: string): Reach => {
  // An empty label is no name: it would hide what the name ends with.
  if (metadataNames.has(name) || name.split('.').includes('')) return 'never'
  const isInternal = !name.includes('.') || internalSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
  return isInternal ? 'private' : 'public'
}

const maxUrlLength = 2_048

/** All addresses of a name; an empty list or an error when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** How names are looked up. */
export interface LookUp {
  resolve?: Resolve | undefined
  /** A name that takes longer counts as one without an answer. */
  lookUpWithinMs?: number | undefined
}

/** Decides which of the addresses that callers give may be reached. */
export interface Guard {
  /** Returns the URL in canonical form; throws for a URL that the guard refuses. */
  readUrl(given: string | URL, purpose: Purpose): URL
  /** Returns the addresses of a host name or literal; throws unless all of them may be reached. */
  addresses(hostname: string): Promise<readonly string[]>
}

/** As a socket would resolve it: with the hosts file of the machine. */
const systemResolve: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address)

/** Settings are read again for every decision. */
export const openGuard = (
  env: Environment,
  { resolve = systemResolve, lookUpWithinMs = 5_000 }: LookUp = {},
): Guard => ({
  readUrl: (given, purpose) => readUrl(given, purpose, allowsPrivateHosts(env)),
  async addresses(hostname) {
    const allowPrivate = allowsPrivateHosts(env)
    const host = bareHost(hostname)
    requireHost(host, allowPrivate)
    const addresses = isIP(host) === 0 ? await answersOf(resolve(host), lookUpWithinMs) : [host]
    // Where private networks are closed this reads like a closed address, so that callers cannot probe them.
    if (addresses.length === 0 && allowPrivate) throw new NetFailure('unreachable', { host, systemCode: unknownName })
    if (!mayReach(addresses, allowPrivate)) throw new NetFailure('not-allowed', { host, rule: 'address' })
    return addresses
  },
})

const answersOf = async (answering: ReturnType<Resolve>, withinMs: number): Promise<readonly string[]> => {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<readonly string[]>()
  const timer = setTimeout(giveUp, withinMs, [])
  try {
    return await Promise.race([answering, late])
  } catch {
    return []
  } finally {
    clearTimeout(timer)
  }
}

const readUrl = (given: string | URL, purpose: Purpose, allowPrivate: boolean): URL => {
  const text = String(given)
  const parsed = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : undefined
  if (!parsed || parsed.hostname === '') throw new NetFailure('not-allowed', { rule: 'url' })
  const { hostname, port, protocol, username, password } = parsed
  const host = bareHost(hostname)
  const form = forms[purpose]
  if (!form.protocols.includes(protocol)) throw new NetFailure('not-allowed', { host, rule: 'scheme' })
  if (username !== '' || password !== '') throw new NetFailure('not-allowed', { host, rule: 'userinfo' })
  if (!form.anyPort && isServicePort(port)) throw new NetFailure('not-allowed', { host, rule: 'port' })
  requireHost(host, allowPrivate)
  parsed.hostname = hostname.replace(/\.$/, '')
  parsed.hash = ''
  return parsed
}

const requireHost = (host: string, allowPrivate: boolean): void => {
  const isLiteral = isIP(host) !== 0
  if (isLiteral && !mayReach([host], allowPrivate)) throw new NetFailure('not-allowed', { host, rule: 'address' })
  if (isLiteral) return
  const reach = reachOfName(host)
  if (reach === 'never' || (reach === 'private' && !allowPrivate)) {
    throw new NetFailure('not-allowed', { host, rule: 'name' })
  }
}

/** As resolvers and sockets want it: IPv6 without brackets, no dot at the end. */
const bareHost = (hostname: string): string =>
  hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
