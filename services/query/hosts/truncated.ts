import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { type MonitoredHost, maxHosts } from './host-list.ts'
import { isKeeper, readFigures } from './keeper.ts'

/** An address of a host list: of a host itself, or of the metrics of the Keeper node beside it. */
export interface HostAddress {
  host: MonitoredHost
  kind: 'host' | 'keeper'
  url: URL
}

/** An address that is the beginning of one that the last good list had and this one lacks, as in a file that was cut off. */
interface TruncatedAddress extends HostAddress {
  /** The address as it may be shown: what looks like a port may be the beginning of a password. */
  shown: string
  /** The address that it probably should be. */
  instead: string
}

/** The addresses of a fresh list that are probably truncated; `known` are those of the last good list, as `knownAs` gives them. */
const truncatedAddresses = (fresh: readonly MonitoredHost[], known: readonly string[]): TruncatedAddress[] => {
  const former = known.map(addressAndUser)
  const addresses = fresh.flatMap(addressesOf)
  const present = new Set(addresses.map(addressOf))
  const lost = former.filter(({ address }) => !present.has(address))
  if (lost.length === 0) return []
  const whole = new Set(former.map(({ address }) => address))
  const cut = beginnings(lost.map(({ address }) => address))
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

/** These hosts without what is truncated of them: a host whose own address is, or the address of its Keeper. */
export const withoutTruncated = (
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

/** An address without credentials and without a slash at its end, which a URL gets where the text ends at the port. */
const addressOf = ({ url }: { url: URL }): string => withUser(url, '')

const withUser = (url: URL, username: string): string =>
  Object.assign(new URL(url), { username, password: '' }).href.replace(/\/$/, '')

/** All addresses as which a beginning of one of these is read, which is more than its text: `10.0.12` is read as `10.0.0.12`. */
const beginnings = (addresses: readonly string[]): Map<string, string> => {
  const found = new Map<string, string>()
  for (const address of addresses) {
    for (let length = 'http://'.length; length < address.length; length++) {
      const url = URL.parse(address.slice(0, length))
      if (url) found.set(addressOf({ url }), address)
    }
  }
  return found
}

/** The addresses of a host: its own with the user name that its URL held and without the password, and that of its Keeper. */
const knownAs = (host: MonitoredHost): string[] =>
  addressesOf(host).map(({ kind, url }) => withUser(url, kind === 'host' ? (host.userInUrl ?? '') : ''))

const addressAndUser = (known: string): { address: string; user: string; protocol: string } => {
  const url = new URL(known)
  return { address: addressOf({ url }), user: url.username.toLowerCase(), protocol: url.protocol }
}

/** `http://watch:12` is the beginning of `http://watch:1234@db:8123`: its host is the user name, and its port the password. */
const isCutInCredentials = (
  { url, kind, host: { userInUrl } }: HostAddress,
  { user, protocol }: ReturnType<typeof addressAndUser>,
): boolean => {
  if (kind !== 'host' || user === '' || userInUrl !== undefined) return false
  if (url.protocol !== protocol || url.pathname !== '/') return false
  return url.hostname === user || (url.port === '' && user.startsWith(url.hostname))
}

/** The addresses of the last good list with their user names, which outlive the process where its store does. */
export interface LastGoodHosts {
  read(): Promise<readonly string[]>
  write(addresses: readonly string[]): Promise<void>
}

interface TruncationGuardDeps {
  lastGood: LastGoodHosts | undefined
  answers(address: HostAddress): Promise<boolean>
  log: Telemetry['log']
}

/** Compares fresh lists with the last good one, which it begins with as it was kept. */
export const openTruncationGuard = async ({ lastGood, answers, log }: TruncationGuardDeps) => {
  let addresses = await (lastGood?.read() ?? [])
  const unanswered = async (hosts: readonly MonitoredHost[]) => {
    const truncated = truncatedAddresses(hosts, addresses)
    const answered = await Promise.all(truncated.map(answers))
    return truncated.filter((_, index) => !answered[index])
  }
  const accept = async (hosts: readonly MonitoredHost[]) => {
    addresses = hosts.flatMap(knownAs)
    await lastGood?.write(addresses).catch((error: unknown) => log.warn({ err: error }, 'last good host list not kept'))
  }
  const refuse = (truncated: readonly TruncatedAddress[], kept: string) => {
    for (const { host, shown, instead } of truncated) {
      const reason = `"${shown}" looks like "${instead}" cut off and does not answer; ${kept} until it answers or the list changes`
      log.warn({ host: host.name === host.url.host ? shown : host.name, reason }, 'host refused')
    }
  }
  return { unanswered, accept, refuse }
}

const key = 'query:last-good-hosts'
/** A host and the Keeper node beside it. */
const addressesPerHost = 2
const Addresses = z.array(z.string()).max(addressesPerHost * maxHosts)

/** The last good list in the state store: a list that is cut off is found out after a restart too. A process without hosts keeps none. */
export const lastGoodHosts = (
  store: Store,
  { COLUMNDB_HOST, SVC_HOSTS_FILE }: Environment,
): LastGoodHosts | undefined =>
  COLUMNDB_HOST || SVC_HOSTS_FILE
    ? {
        read: async () => (await store.get(key, Addresses).catch(() => undefined)) ?? [],
        write: async (addresses) => void (await store.update(key, Addresses, () => ({ value: [...addresses] }))),
      }
    : undefined

const answersWithinMs = 2_000
const maxPingBytes = 1_024

/** Whether the server that belongs there answers, which a proxy or a page of another server does not count as. No credentials are sent. */
export const answersIn =
  ({ trusted }: Pick<Net, 'trusted'>) =>
  async ({ kind, url }: Pick<HostAddress, 'kind' | 'url'>): Promise<boolean> => {
    try {
      if (kind === 'keeper') {
        const response = await trusted(url, { timeoutMs: answersWithinMs })
        return isKeeper(readFigures(await response.text()))
      }
      const response = await trusted(pingOf(url), { timeoutMs: answersWithinMs, maxBytes: maxPingBytes })
      return response.ok && (await response.text()).trim() === 'Ok.'
    } catch {
      return false
    }
  }

/** A proxy tells its hosts apart by the path. */
const pingOf = (url: URL): URL => {
  const ping = new URL(url)
  ping.pathname = `${url.pathname.replace(/\/$/, '')}/ping`
  return ping
}
