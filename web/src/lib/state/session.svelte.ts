import { createQuery, useQueryClient } from '@tanstack/svelte-query'
import { createContext } from 'svelte'
import { afterNavigate } from '$app/navigation'
import type { Feature } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import type { HostSummary, Offers } from '#proto/http/config.ts'
import type { Me } from '#proto/http/session.ts'
import { configQuery, overviewQuery, statusQuery, statusRefreshMs, statusWatchMs } from '#lib/api/queries.ts'
import { failureMessage } from '#lib/api/failure.ts'
import { createSilentHosts } from './silent-hosts.svelte.ts'
import { view } from './view.svelte.ts'
import { zoneName } from './zone.ts'

/** What all pages share: the hosts with their present status, and the definitions in force. */
export interface Session {
  readonly hosts: readonly HostSummary[]
  /** The host of this page; undefined while hosts are loading or when there is no such host. */
  readonly host: HostSummary | undefined
  /** Whether the host of this page is a connection of whoever looks, which nobody watches while they look elsewhere. */
  readonly isBrought: boolean
  readonly catalogue: Catalogue | undefined
  /** IANA name of the zone in which instants are shown. */
  readonly zone: string
  readonly failure: string | null
  /** Whether who looks may read what is shown; undefined until that is known. */
  readonly mayRead: boolean | undefined
  /** Whether who looks may change anything; undefined until that is known. */
  readonly mayWrite: boolean | undefined
  /** What the installation is set up for; undefined until that is known. */
  readonly offers: Offers | undefined
  /** Whether there is a feature at all; who may use it is another matter. True until it is known. */
  isOffered: (feature: Feature) => boolean
  /** The ways to sign in; undefined until they are known. */
  readonly signIn: SignInWays | undefined
  /** Whether people are told apart at all. */
  readonly hasAccounts: boolean
  retry: () => void
}

type SignInWays = Me['signIn']

export const [getSession, setSession] = createContext<Session>()

/** Asked once by the layout. */
export const createSession = (): Session => {
  const { config, status, overview } = createQueries()
  const hosts = $derived.by(() => {
    const latest = new Map(view.connection === null ? status.data?.map((host) => [host.id, host.status]) : [])
    return (config.data?.hosts ?? []).map((host) => ({ ...host, status: latest.get(host.id) ?? host.status }))
  })
  const host = $derived(hosts.find(({ id }) => id === view.host))
  view.followClock(() => (view.connection === null ? (host?.clockSkewMs ?? 0) : 0))
  return {
    get hosts() {
      return hosts
    },
    get host() {
      return host
    },
    get isBrought() {
      return view.connection !== null || view.host < 0
    },
    get catalogue() {
      return config.data?.catalogue
    },
    get zone() {
      return zoneName(view.zone, { host: overview.data?.data.hostInfo.timezone, operator: config.data?.displayZone })
    },
    get failure() {
      return config.data === undefined && config.error ? failureMessage(config.error) : null
    },
    get mayRead() {
      return config.data?.capabilities.read
    },
    get mayWrite() {
      return config.data?.capabilities.write
    },
    get offers() {
      return config.data?.offers
    },
    isOffered: (feature) => config.data?.features[feature]?.enabled !== false,
    get signIn() {
      return config.data?.signIn
    },
    get hasAccounts() {
      return config.data !== undefined && (config.data.provider !== 'none' || config.data.signIn.key)
    },
    retry: () => void config.refetch(),
  }
}

/** Statuses come with the first answer and are renewed on their own afterwards. */
const createQueries = () => {
  const client = useQueryClient()
  const silent = createSilentHosts(client)
  const config = createQuery(() => configQuery())
  const configured = $derived(config.data?.hosts.find(({ id }) => id === view.host))
  const isSilent = $derived(configured !== undefined && silent.has(configured.name))
  const status = createQuery(() => ({
    ...statusQuery(),
    refetchInterval: ({ state: { data } }) =>
      isSilent || data?.some(({ id, status: latest }) => id === view.host && latest !== 'up')
        ? statusWatchMs
        : Math.min(statusRefreshMs, view.refreshMs || statusRefreshMs),
    // The statuses are those of the configured hosts; of a brought one nobody keeps watch.
    enabled: config.data !== undefined && view.connection === null,
  }))
  // Why a host is down, and the version with which it is back, come with the config alone.
  const isNews = $derived(
    status.data?.some(({ id, status: latest }) => id === view.host && latest !== configured?.status) ?? false,
  )
  $effect(() => {
    if (isNews && view.connection === null) void client.invalidateQueries(configQuery())
  })
  // Whoever opens another page is not shown a status of a minute ago.
  afterNavigate(({ from }) => {
    if (from && status.isEnabled) void client.prefetchQuery({ ...statusQuery(), staleTime: statusWatchMs })
  })
  const overview = createQuery(() => ({
    ...overviewQuery(view.host),
    enabled: view.zone === 'host',
    staleTime: Infinity,
  }))
  return { config, status, overview }
}
