import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Logger } from 'pino'
import type { alerts } from '#proto/alerts.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { MetricsQuery } from '#proto/http/exposition.ts'
import type { Host, query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { gatewayIdentity } from '../auth/identity.ts'
import type { HostList } from '../hosts/host-list.ts'
import { type MetricFamilies, createMetricFamilies } from './families.ts'
import { collectHostMetrics, findSelectedHosts, formatSelectionKey } from './collect-metrics.ts'

/** Timeout for the metrics of one host; `query` itself waits four seconds for a host. */
const hostTimeoutMs = 6_000
/**
 * After this time, the remaining hosts get a shorter timeout, because scrapers give up after 10 seconds. Healthy hosts
 * still respond in time, and late results are ready for the next scrape.
 */
const shortTimeoutAfterMs = 2_000
const shortHostTimeoutMs = 250
/** Timeout for the number of alerts, which `alert-dispatcher` reads from memory. */
const alertsTimeoutMs = 1_000
/** Maximum time that a response is cached, even if there are no hosts. */
const maxCacheMs = 30_000
/** Level 1, because higher levels save only 5 % of the bytes and take three times as long. */
const gzipLevel = 1

const gzipAsync = promisify(gzip)

/** Metrics of all hosts in the Prometheus text format. */
export interface Exposition {
  /** Returns the gzipped text. Requests with the same selection share one text, which is cached for at most 30 s. */
  body(request: MetricsQuery): Promise<Buffer>
}

interface Sources {
  query: ServiceClient<typeof query>
  alerts: ServiceClient<typeof alerts>
  hosts: HostList
  clock: Clock
  log: Logger
}

export const openExposition = (sources: Sources): Exposition => {
  const { clock, hosts } = sources
  const bodies = createBodyCache(clock.elapsedMs)

  const build = async (request: MetricsQuery) => {
    const selectors = request['match[]'] && (await parseSelectors(request['match[]']))
    const families = createMetricFamilies(selectors)
    const startedMs = clock.elapsedMs()
    const freshForMs = await addHostMetrics(families, await findSelectedHosts(hosts, request), sources)
    const took = families.declare('watchhouse_scrape_duration_seconds', 'Time to collect these metrics in seconds.')
    took({}, (clock.elapsedMs() - startedMs) / 1_000)
    return { body: await gzipAsync(families.text(), { level: gzipLevel }), freshUntilMs: startedMs + freshForMs }
  }
  return { body: (request) => bodies.of(formatSelectionKey(request), () => build(request)) }
}

/** Parses selectors. Their regular expression library is loaded on demand, because most scrapes have none. */
const parseSelectors = async (texts: readonly string[]) => {
  const { parseSelector } = await import('./selector.ts')
  return texts.map(parseSelector)
}

/** Adds the metrics of the hosts; returns how long the result may be cached, in milliseconds. */
const addHostMetrics = async (families: MetricFamilies, hosts: readonly Host[], sources: Sources): Promise<number> => {
  const counting = readFiringCounts(sources)
  const declare = families.declare
  const info = declare('watchhouse_host_info', 'Always 1; name and group of a host.')
  const up = declare('watchhouse_host_up', 'Whether the last collection of metrics of a host succeeded.')
  const failure = declare('watchhouse_host_failure', 'Always 1; why the last collection of metrics of a host failed.')
  const age = declare('watchhouse_host_metrics_age_seconds', 'Age of the metrics of a host in seconds.')
  const alerts = declare('watchhouse_alerts_firing', 'Number of firing conditions on a host.')

  for (const { id, name, group } of hosts) info({ host: String(id), name, ...(group !== null && { group }) }, 1)
  let freshForMs = maxCacheMs
  const shortTimeoutFromMs = sources.clock.elapsedMs() + shortTimeoutAfterMs
  await collectHostMetrics(
    sources.query,
    hosts,
    () =>
      createGatewayCall(
        sources.clock,
        sources.clock.elapsedMs() < shortTimeoutFromMs ? hostTimeoutMs : shortHostTimeoutMs,
      ),
    (gathered) => {
      const labels = { host: String(gathered.host.id) }
      up(labels, gathered.failure === null ? 1 : 0)
      if (gathered.failure !== null) failure({ ...labels, reason: gathered.failure }, 1)
      if (gathered.ageMs !== null) age(labels, gathered.ageMs / 1_000)
      families.add(gathered.text, labels)
      freshForMs = Math.min(freshForMs, gathered.freshForMs)
    },
  )
  const counts = await counting
  if (counts) for (const { id, key } of hosts) alerts({ host: String(id) }, counts.get(key) ?? 0)
  return freshForMs
}

/** Returns the number of firing conditions by host key; undefined if `alert-dispatcher` fails. */
const readFiringCounts = async ({ alerts, clock, log }: Sources): Promise<ReadonlyMap<string, number> | undefined> => {
  try {
    const counted = await alerts.firing({}, createGatewayCall(clock, alertsTimeoutMs))
    return new Map(counted.map(({ hostKey, conditions }) => [hostKey, conditions]))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    log.debug({ err: error }, 'reading firing alerts failed')
    return undefined
  }
}

/**
 * Returns a call of the gateway with low priority. A scraper that disconnects does not cancel it, because other
 * scrapers share the result.
 */
const createGatewayCall = (clock: Clock, withinMs: number): CallContext => ({
  identity: gatewayIdentity,
  deadline: clock.elapsedMs() + withinMs,
  signal: new AbortController().signal,
  priority: 'sweep',
})

const maxBodies = 64
const maxBytes = 64 * 1024 * 1024

interface CachedBody {
  body: Buffer
  freshUntilMs: number
}

/** A cache of bodies by request, which evicts the oldest. */
interface BodyCache {
  /** Returns the cached body, or builds it. Concurrent callers share one build; a failure is not cached. */
  of(key: string, build: () => Promise<CachedBody>): Promise<Buffer>
}

const createBodyCache = (elapsedMs: () => number): BodyCache => {
  const ready = new Map<string, CachedBody>()
  const building = new Map<string, Promise<Buffer>>()

  const keep = (key: string, fresh: CachedBody): Buffer => {
    ready.delete(key)
    ready.set(key, fresh)
    let bytes = 0
    // The newest entries of `ready` are last. The oldest entries that exceed a limit are evicted.
    for (const [index, [other, { body }]] of [...ready].toReversed().entries()) {
      bytes += body.length
      if (index >= maxBodies || bytes > maxBytes) ready.delete(other)
    }
    return fresh.body
  }

  const begin = (key: string, build: () => Promise<CachedBody>): Promise<Buffer> => {
    const started = build()
      .then((fresh) => keep(key, fresh))
      .finally(() => building.delete(key))
    building.set(key, started)
    return started
  }

  return {
    async of(key, build) {
      const known = ready.get(key)
      if (known && known.freshUntilMs > elapsedMs()) return known.body
      return building.get(key) ?? begin(key, build)
    },
  }
}
