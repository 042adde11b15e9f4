import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { z } from 'zod'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { type HostCapabilities, compareVersions } from '../clickhouse/capabilities.ts'
import { findFailureReason, createHostError } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** The tables of metrics. If both have a metric, the first table has the current value. */
const tables = ['metrics', 'asynchronous_metrics'] as const
/** The first version with descriptions of asynchronous metrics. */
const describedSince = '23.9'

/** Returns the statement for all metrics of a host. Values are text, as JSON lacks infinity and 64-bit integers. */
const buildMetricsStatement = (host: MonitoredHost, { tables: visible, version }: HostCapabilities): Statement => {
  const readable = tables.filter((table) => visible.has(table))
  if (readable.length === 0) {
    const wanted = tables.map((table) => `system.${table}`).join(' and ')
    throw new ServiceError(
      'forbidden',
      `the configured user of host ${host.name} may not read ${wanted}; grant SELECT on one of them`,
    )
  }
  const parts = readable.map((table) => {
    const isDescribed = table === 'metrics' || compareVersions(version, describedSince) >= 0
    const meaning = isDescribed ? 'description' : "''"
    return `SELECT ${tables.indexOf(table)} AS place, metric, toString(value) AS text, ${meaning} AS meaning FROM system.${table}`
  })
  return {
    what: 'exposition',
    hot: true,
    sql: `SELECT metric, text, meaning FROM (\n  ${parts.join('\n  UNION ALL\n  ')}\n) ORDER BY place, metric`,
  }
}

/** A number as text. Any other text could inject lines into the exposition. */
const Value = z.string().regex(/^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|-?inf)$/)
/** Rows with the name, value and description of a metric. */
const MetricRows = z.array(z.tuple([z.string(), Value, z.string()]))
type MetricRows = z.infer<typeof MetricRows>

/** Validates the rows of `buildMetricsStatement`. */
const readMetricRows = (host: MonitoredHost, rows: unknown): MetricRows => {
  const metricRows = MetricRows.safeParse(rows)
  if (!metricRows.success) throw createHostError(host, 'garbage')
  return metricRows.data
}

/** Returns the metrics as Prometheus text without labels. The first of several metrics with the same name is kept. */
const formatExposition = (metricRows: MetricRows): string => {
  const families = new Map<string, string>()
  for (const [metric, value, meaning] of metricRows) {
    const name = toMetricName(metric)
    if (families.has(name)) continue
    const help = `# HELP ${name} ${escaped(meaning || `Metric ${metric} of ClickHouse.`)}\n`
    families.set(name, `${help}# TYPE ${name} gauge\n${name} ${specialValues[value] ?? value}\n`)
  }
  return [...families.values()].join('')
}

/** Suffixes that Prometheus reserves for counters, histograms and summaries. All metrics here are gauges. */
const reservedSuffix = /_(?:total|bucket|count|sum)$/

/** Returns the Prometheus name of a metric, such as `clickhouse_query`; `_value` follows a reserved suffix. */
const toMetricName = (metric: string): string =>
  `clickhouse_${metric.toLowerCase().replaceAll(/\W/g, '_')}`.replace(reservedSuffix, '$&_value')

const escaped = (meaning: string): string =>
  meaning.replaceAll(/[\\\n]/g, (letter) => (letter === '\n' ? String.raw`\n` : String.raw`\\`))

/** Special values of ClickHouse as Prometheus spells them. */
const specialValues: Readonly<Record<string, string>> = { nan: 'NaN', inf: '+Inf', '-inf': '-Inf' }

/** Metrics are reused for just under 30 s, so that a scraper with a 30 s interval gets new values each time. */
const freshMs = 29_000
/** The maximum age of served metrics, equal to the lookback of Prometheus. Older ones would seem current. */
const usefulMs = 300_000
/** The timeout of the statement. Scrapers give up after 10 seconds by default. */
const batchWithinMs = 4_000
/** How long a scrape waits for a host that has never responded. The statement continues for the next scrape. */
const firstResponseWithinMs = 1_000
/** Higher levels save 5 % of the size but take three times as long. */
const gzipLevel = 1

const gzipped = promisify(gzip)

/** The cached metrics of one host and the state of their refresh. */
interface CachedExposition {
  text: Uint8Array | undefined
  takenMs: number
  /** The start of the last query. */
  requestedMs: number
  failure: string | null
  /** The running query, if any. */
  refresh: Promise<void> | undefined
}

/** Returns the handler for the metrics of a host as Prometheus text. Scrapes within 29 seconds share one statement. */
export const createExpositionHandler = (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['exposition'] => {
  // Keyed by the host object, so that a changed host list never serves metrics of another server.
  const known = new WeakMap<MonitoredHost, CachedExposition>()
  const { clock } = parts

  const refresh = async (host: MonitoredHost, entry: CachedExposition): Promise<void> => {
    try {
      const text = await queryExposition(parts, host)
      entry.text = await gzipped(text, { level: gzipLevel })
      entry.takenMs = clock.elapsedMs()
      entry.failure = null
    } catch (error) {
      entry.failure = findFailureReason(error) ?? (error instanceof ServiceError ? error.code : 'internal')
      if (!(error instanceof ServiceError)) throw error
    } finally {
      entry.refresh = undefined
    }
  }

  return async ({ hostKey }) => {
    const host = parts.hosts.get(hostKey)
    const entry = known.get(host) ?? unknown()
    known.set(host, entry)
    if (clock.elapsedMs() - entry.requestedMs >= freshMs) {
      entry.requestedMs = clock.elapsedMs()
      entry.refresh = refresh(host, entry)
      entry.refresh.catch(() => undefined)
    }
    // After a failure the host is queried in the background, so that scrapes do not wait for it.
    if (entry.failure === null)
      await waitForRefresh(entry, () => entry.text !== undefined || parts.probe.known(host.key).aheadMs !== null)
    return toExpositionStream(entry, clock.elapsedMs())
  }
}

/** Waits for the running query. If the host has also not responded to the probe, it counts as failed after a second. */
const waitForRefresh = async (entry: CachedExposition, hasResponded: () => boolean): Promise<void> => {
  if (entry.refresh && !hasResponded())
    await Promise.race([entry.refresh, pause(firstResponseWithinMs, undefined, { ref: false })])
  if (hasResponded()) await entry.refresh
  else if (entry.refresh) entry.failure = 'timeout'
}

const unknown = (): CachedExposition => ({
  text: undefined,
  takenMs: Number.NEGATIVE_INFINITY,
  requestedMs: Number.NEGATIVE_INFINITY,
  failure: null,
  refresh: undefined,
})

/** Runs with sweep priority and without a caller's signal, because scrapers share the result. */
const queryExposition = async ({ client, clock }: QueryHandlerDeps, host: MonitoredHost): Promise<string> => {
  const deadline = clock.elapsedMs() + batchWithinMs
  const context = { signal: new AbortController().signal, deadline, priority: 'sweep' } as const
  const statement = buildMetricsStatement(host, await client.capabilities(host, context))
  const { rows } = await client.run(host, statement, context)
  return formatExposition(readMetricRows(host, rows))
}

const toExpositionStream = ({ text, takenMs, requestedMs, failure, refresh }: CachedExposition, nowMs: number) => {
  const ageMs = nowMs - takenMs
  const useful = ageMs < usefulMs ? text : undefined
  // If a query is running, it ends within its time limit and may then return new metrics.
  const changesAtMs = requestedMs + (refresh ? batchWithinMs : freshMs)
  const head = { failure, ageMs: useful ? ageMs : null, freshForMs: Math.max(0, changesAtMs - nowMs) }
  return { head, frames: whole(useful) }
}

async function* whole(text: Uint8Array | undefined): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  if (text) yield text
  return {}
}
