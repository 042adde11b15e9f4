import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Environment } from '../config/environment.ts'
import { areAddressesAllowed, type AddressClass } from './address.ts'
import { NetFailure, nameNotFoundCode } from './failure.ts'
import { urlRules, isServicePort, type RequestPurpose } from './purposes.ts'
import { findDataDirectory } from '../store/data-directory.ts'
import { isCloudMode } from '../config/shared-settings.ts'
import { flagSetting, parseSettings } from '../config/setting.ts'

/** Settings of the guard for outgoing requests. */
export const netSettings = {
  SVC_ALLOW_PRIVATE_HOSTS: flagSetting(
    false,
    'Allow user-supplied addresses in private, loopback, link-local and overlay networks; always off in cloud mode.',
    { alsoTrue: ['cloud'] },
  ),
} as const

/**
 * Returns whether user-supplied addresses of callers on this machine may be in private networks: in one process with a
 * data directory, whose user could connect to these addresses anyway. Never in cloud mode.
 */
export const areLocalCallersTrusted = (env: Environment): boolean =>
  findDataDirectory(env) !== undefined && !isCloudMode(env)

/** Returns whether user-supplied addresses may be in private networks. */
export const arePrivateHostsAllowed = (env: Environment): boolean =>
  parseSettings(netSettings, env).SVC_ALLOW_PRIVATE_HOSTS && !isCloudMode(env)

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
/** Suffixes of names that only resolve inside a network. */
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

/** Classifies a lower-case name before it is resolved. After that, its addresses are checked too. */
const classifyName = (name: string): AddressClass => {
  // An empty label, as in a name with two trailing dots, would hide its suffix.
  if (metadataNames.has(name) || name.split('.').includes('')) return 'never'
  const isInternal = !name.includes('.') || internalSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
  return isInternal ? 'private' : 'public'
}

const maxUrlLength = 2_048

/** A function that returns all addresses of a name; it returns an empty list or throws if there are none. */
export type NameResolver = (name: string) => Promise<readonly string[]>

/** Options of name look-ups. */
export interface LookupOptions {
  resolve?: NameResolver | undefined
  /** Timeout of a look-up; a slower one counts as failed. */
  lookUpWithinMs?: number | undefined
}

/** A guard that decides which user-supplied addresses may be contacted. */
export interface AddressGuard {
  /** Returns the URL in canonical form; throws if the guard rejects it. */
  readUrl(given: string | URL, purpose: RequestPurpose): URL
  /** Returns the addresses of a host name or literal; throws unless all of them may be contacted. */
  addresses(hostname: string): Promise<readonly string[]>
}

/** Resolves names like a socket does, including the hosts file. */
const resolveWithSystem: NameResolver = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address)

/** Creates a guard, which reads its settings for every decision. */
export const openAddressGuard = (
  env: Environment,
  { resolve = resolveWithSystem, lookUpWithinMs = 5_000 }: LookupOptions = {},
  arePrivateAllowed: (env: Environment) => boolean = arePrivateHostsAllowed,
): AddressGuard => ({
  readUrl: (given, purpose) => readUrl(given, purpose, arePrivateAllowed(env)),
  async addresses(hostname) {
    const allowPrivate = arePrivateAllowed(env)
    const host = toBareHost(hostname)
    requireHost(host, allowPrivate)
    const addresses = isIP(host) === 0 ? await resolveWithTimeout(resolve(host), lookUpWithinMs) : [host]
    // If private networks are not allowed, an unknown name fails like a private one, so that callers cannot probe
    // names.
    if (addresses.length === 0 && allowPrivate)
      throw new NetFailure('unreachable', { host, systemCode: nameNotFoundCode })
    if (!areAddressesAllowed(addresses, allowPrivate)) throw new NetFailure('not-allowed', { host, rule: 'address' })
    return addresses
  },
})

const resolveWithTimeout = async (
  answering: ReturnType<NameResolver>,
  withinMs: number,
): Promise<readonly string[]> => {
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

const readUrl = (given: string | URL, purpose: RequestPurpose, allowPrivate: boolean): URL => {
  const text = String(given)
  const parsed = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : undefined
  if (!parsed || parsed.hostname === '') throw new NetFailure('not-allowed', { rule: 'url' })
  const { hostname, port, protocol, username, password } = parsed
  const host = toBareHost(hostname)
  const form = urlRules[purpose]
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
  if (isLiteral && !areAddressesAllowed([host], allowPrivate))
    throw new NetFailure('not-allowed', { host, rule: 'address' })
  if (isLiteral) return
  const reach = classifyName(host)
  if (reach === 'never' || (reach === 'private' && !allowPrivate)) {
    throw new NetFailure('not-allowed', { host, rule: 'name' })
  }
}

/** Returns the host for resolvers and sockets: IPv6 without brackets, no trailing dot. */
const toBareHost = (hostname: string): string =>
  hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
