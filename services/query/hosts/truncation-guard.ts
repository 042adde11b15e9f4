import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { type MonitoredHost, maxHosts } from './host-list.ts'
import { isKeeperNode, parsePrometheusMetrics } from './keeper-metrics.ts'

/** An address in the host list: that of a host, or of the metrics endpoint of its Keeper node. */
export interface HostAddress {
  host: MonitoredHost
  kind: 'host' | 'keeper'
  url: URL
}

/** A new address that is a prefix of a removed one, for example after a partial write of the file. */
interface TruncatedAddress extends HostAddress {
  /** The address in log messages. The port is omitted if it may be the beginning of a password. */
  shown: string
  /** The probable full address. */
  instead: string
}

/** Returns the addresses of `fresh` that are probably truncated. `known` are the addresses of the last valid list. */
const truncatedAddresses = (fresh: readonly MonitoredHost[], known: readonly string[]): TruncatedAddress[] => {
  const former = known.map(addressAndUser)
  const addresses = fresh.flatMap(addressesOf)
  const present = new Set(addresses.map(addressOf))
  const lost = former.filter(({ address }) => !present.has(address))
  if (lost.length === 0) return []
  const whole = new Set(former.map(({ address }) => address))
  const cut = parsedPrefixes(lost.map(({ address }) => address))
  return addresses.flatMap((each) => {
    const address = addressOf(each)
    if (whole.has(address)) return []
    const instead = cut.get(address)
    if (instead !== undefined) return [{ ...each, shown: address, instead }]
    const cutInUser = lost.find((other) => isCutInCredentials(each, other))
    if (!cutInUser) return []
    return [{ ...each, shown: `${each.url.protocol}//${each.url.hostname}`, instead: cutInUser.address }]
  })
}

/** Returns the hosts without truncated ones, and without Keeper addresses that are truncated. */
export const removeTruncatedHosts = (
  hosts: readonly MonitoredHost[],
  truncated: readonly HostAddress[],
): readonly MonitoredHost[] =>
  hosts.flatMap((host) => {
    const kinds = new Set(truncated.filter((each) => each.host === host).map(({ kind }) => kind))
    if (kinds.has('host')) return []
    return [kinds.has('keeper') ? { ...host, keeperMetrics: undefined } : host]
  })

const addressesOf = (host: MonitoredHost): HostAddress[] => [
  { host, kind: 'host', url: host.url },
  ...(host.keeperMetrics ? [{ host, kind: 'keeper' as const, url: host.keeperMetrics }] : []),
]

/** Returns the address without credentials and without the trailing slash that URL parsing adds after a port. */
const addressOf = ({ url }: { url: URL }): string => withUser(url, '')

const withUser = (url: URL, username: string): string =>
  Object.assign(new URL(url), { username, password: '' }).href.replace(/\/$/, '')

/** Maps every parsed prefix of an address to the address. The prefix `10.0.12`, for example, parses as `10.0.0.12`. */
const parsedPrefixes = (addresses: readonly string[]): Map<string, string> => {
  const found = new Map<string, string>()
  for (const address of addresses) {
    for (let length = 'http://'.length; length < address.length; length++) {
      const url = URL.parse(address.slice(0, length))
      if (url) found.set(addressOf({ url }), address)
    }
  }
  return found
}

/** Returns the addresses of a host as they are stored: with the user name of its URL and without the password. */
const storedAddresses = (host: MonitoredHost): string[] =>
  addressesOf(host).map(({ kind, url }) => withUser(url, kind === 'host' ? (host.userInUrl ?? '') : ''))

const addressAndUser = (known: string): { address: string; user: string; protocol: string } => {
  const url = new URL(known)
  return { address: addressOf({ url }), user: url.username.toLowerCase(), protocol: url.protocol }
}

/** Matches `http://watch:12`, a prefix of `http://watch:1234@db:8123` that has the user as host name. */
const isCutInCredentials = (
  { url, kind, host: { userInUrl } }: HostAddress,
  { user, protocol }: ReturnType<typeof addressAndUser>,
): boolean => {
  if (kind !== 'host' || user === '' || userInUrl !== undefined) return false
  if (url.protocol !== protocol || url.pathname !== '/') return false
  return url.hostname === user || (url.port === '' && user.startsWith(url.hostname))
}

/** Stores the addresses of the last valid host list, with their user names. */
export interface LastValidHostStore {
  read(): Promise<readonly string[]>
  write(addresses: readonly string[]): Promise<void>
}

interface TruncationGuardDeps {
  lastGood: LastValidHostStore | undefined
  answers(address: HostAddress): Promise<boolean>
  log: Telemetry['log']
}

/** Reads the addresses of the last valid host list. Returns functions that compare new lists with these addresses. */
export const openTruncationGuard = async ({ lastGood, answers, log }: TruncationGuardDeps) => {
  let addresses = await (lastGood?.read() ?? [])
  const findUnanswered = async (hosts: readonly MonitoredHost[]) => {
    const truncated = truncatedAddresses(hosts, addresses)
    const answered = await Promise.all(truncated.map(answers))
    return truncated.filter((_, index) => !answered[index])
  }
  const accept = async (hosts: readonly MonitoredHost[]) => {
    addresses = hosts.flatMap(storedAddresses)
    await lastGood
      ?.write(addresses)
      .catch((error: unknown) => log.warn({ err: error }, 'saving the last valid host list failed'))
  }
  const warn = (truncated: readonly TruncatedAddress[], consequence: string) => {
    for (const { host, shown, instead } of truncated) {
      const reason = `"${shown}" looks like a truncated "${instead}" and does not respond; ${consequence} until it responds or the list changes`
      log.warn({ host: host.name === host.url.host ? shown : host.name, reason }, 'host skipped')
    }
  }
  return { findUnanswered, accept, warn }
}

const key = 'query:last-good-hosts'
/** The maximum number of addresses per host: its own and that of its Keeper node. */
const addressesPerHost = 2
const Addresses = z.array(z.string()).max(addressesPerHost * maxHosts)

/** Opens the storage of the last valid list, which survives a restart. Returns undefined without a host list. */
export const openLastValidHostStore = (
  store: Store,
  { COLUMNDB_HOST, SVC_HOSTS_FILE }: Environment,
): LastValidHostStore | undefined =>
  COLUMNDB_HOST || SVC_HOSTS_FILE
    ? {
        read: async () => (await store.get(key, Addresses).catch(() => undefined)) ?? [],
        write: async (addresses) => void (await store.update(key, Addresses, () => ({ value: [...addresses] }))),
      }
    : undefined

const timeoutMs = 2_000
const maxPingBytes = 1_024

/** Returns a function that checks whether ClickHouse or Keeper responds at an address. It sends no credentials. */
export const createAddressCheck =
  ({ trusted }: Pick<Net, 'trusted'>) =>
  async ({ kind, url }: Pick<HostAddress, 'kind' | 'url'>): Promise<boolean> => {
    try {
      if (kind === 'keeper') {
        const response = await trusted(url, { timeoutMs })
        return isKeeperNode(parsePrometheusMetrics(await response.text()))
      }
      const response = await trusted(pingOf(url), { timeoutMs, maxBytes: maxPingBytes })
      return response.ok && (await response.text()).trim() === 'Ok.'
    } catch {
      return false
    }
  }

/** Returns the URL of `/ping`. It keeps the path of the host, because a proxy may route by path. */
const pingOf = (url: URL): URL => {
  const ping = new URL(url)
  ping.pathname = `${url.pathname.replace(/\/$/, '')}/ping`
  return ping
}
