import { createQuery, useQueryClient } from '@tanstack/svelte-query'
import { createContext } from 'svelte'
import { afterNavigate } from '$app/navigation'
import type { Feature } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import type { HostSummary, InstallationCapabilities } from '#proto/http/config.ts'
import type { Me } from '#proto/http/session.ts'
import { configQuery, overviewQuery, statusQuery, statusRefreshMs, downStatusRefreshMs } from '#lib/api/queries.ts'
import { getFailureMessage, RequestFailure } from '#lib/api/failure.ts'
import { trackUnreachableHosts } from './unreachable-hosts.svelte.ts'
import { view } from './view.svelte.ts'
import { resolveZoneName } from './zone.ts'

/** Shared state of all pages: hosts with their status, definitions and permissions. */
export interface Session {
  readonly hosts: readonly HostSummary[]
  /** The host of the page; undefined while hosts are loading or for an unknown host. */
  readonly host: HostSummary | undefined
  /** Whether the page shows a user connection, which is not monitored in the background. */
  readonly isUserConnection: boolean
  readonly catalogue: Catalogue | undefined
  /** IANA name of the display time zone. */
  readonly zone: string
  /** Why the configuration cannot be loaded, with a title; null if it is loaded or still loading. */
  readonly failure: { title: string; message: string } | null
  /** Whether the user can read; undefined until known. */
  readonly mayRead: boolean | undefined
  /** Whether the user can change anything; undefined until known. */
  readonly mayWrite: boolean | undefined
  /** Optional capabilities of the installation; undefined until known. */
  readonly offers: InstallationCapabilities | undefined
  /** Returns whether a feature is enabled, regardless of permissions; true until known. */
  isOffered: (feature: Feature) => boolean
  /** Sign-in methods; undefined until known. */
  readonly signIn: SignInWays | undefined
  /** Whether the installation has user accounts. */
  readonly hasAccounts: boolean
  retry: () => void
}

type SignInWays = Me['signIn']

/** The service responds with its own message if it is reachable, such as to too many requests. */
const describeFailure = (error: Error) => ({
  title:
    error instanceof RequestFailure && error.status === tooManyRequests
      ? 'Too many requests'
      : 'Monitoring service unreachable',
  message: getFailureMessage(error),
})
const tooManyRequests = 429

export const [getSession, setSession] = createContext<Session>()

/** Creates the session; called once by the layout. */
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
    get isUserConnection() {
      return view.connection !== null || view.host < 0
    },
    get catalogue() {
      return config.data?.catalogue
    },
    get zone() {
      return resolveZoneName(view.zone, {
        host: overview.data?.data.hostInfo.timezone,
        operator: config.data?.displayZone,
      })
    },
    get failure() {
      return config.data === undefined && config.error ? describeFailure(config.error) : null
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

/** Creates the queries of the session. The config includes the first statuses, which are refreshed separately. */
const createQueries = () => {
  const client = useQueryClient()
  const unreachable = trackUnreachableHosts(client)
  const config = createQuery(() => configQuery())
  const configured = $derived(config.data?.hosts.find(({ id }) => id === view.host))
  const isUnreachable = $derived(configured !== undefined && unreachable.has(configured.name))
  const status = createQuery(() => ({
    ...statusQuery(),
    refetchInterval: ({ state: { data } }) =>
      isUnreachable || data?.some(({ id, status: latest }) => id === view.host && latest !== 'up')
        ? downStatusRefreshMs
        : Math.min(statusRefreshMs, view.refreshMs || statusRefreshMs),
    // Statuses cover configured hosts only; user connections are not monitored.
    enabled: config.data !== undefined && view.connection === null,
  }))
  // A changed status requires a new config, which contains the reason for an outage and the version after a restart.
  const isNews = $derived(
    status.data?.some(({ id, status: latest }) => id === view.host && latest !== configured?.status) ?? false,
  )
  $effect(() => {
    if (isNews && view.connection === null) void client.invalidateQueries(configQuery())
  })
  // Opening another page refreshes statuses that are no longer recent.
  afterNavigate(({ from }) => {
    if (from && status.isEnabled) void client.prefetchQuery({ ...statusQuery(), staleTime: downStatusRefreshMs })
  })
  const overview = createQuery(() => ({
    ...overviewQuery(view.host),
    enabled: view.zone === 'host',
    staleTime: Infinity,
  }))
  return { config, status, overview }
}
