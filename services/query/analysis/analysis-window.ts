import type { CallContext } from '#proto/call.ts'
import { type Interval, intervals } from '#proto/catalogue.ts'
import type { TimeWindow } from '#proto/query.ts'
import type { HostCapabilities } from '../clickhouse/capabilities.ts'
import type { MacroScope } from '../definitions/macros.ts'
import { buckets, validateZone, type ChartWindow, resolveChartWindow } from '../definitions/window.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** Maximum points of a time series, unless the caller requests a finer interval. */
const maxPoints = 200
const defaultHours = 24

/** The time window of an analysis and the macro scope of its statements. */
export interface AnalysisScope {
  window: ChartWindow
  scope: MacroScope
}

/** Resolves the requested window. The default interval is the finest one within the maximum number of points. */
export const resolveAnalysisScope = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  request: TimeWindow,
  call: CallContext,
): Promise<AnalysisScope> => {
  const zone = validateZone(request.timezone)
  const span = resolveAnalysisTimeRange(request, parts.clock.now() + parts.probe.skewMs(host.key))
  const interval = request.interval ? span.interval : findFinestInterval(span.toMs - span.fromMs)
  const window = { ...span, interval }
  const { logs }: HostCapabilities = await parts.client.capabilities(host, call)
  return { window, scope: { window, zone, logs } }
}

/** Returns the requested time range, or the last 24 hours. Throws `invalid` for an empty range. */
export const resolveAnalysisTimeRange = (request: TimeWindow, hostNowMs: number): ChartWindow => {
  const span = resolveChartWindow({ lastHours: defaultHours, interval: 'toStartOfMinute' }, request, hostNowMs)
  // A definition with `lastHours` always has a window.
  if (!span) throw new Error('cannot run the analysis: no time range')
  return span
}

const findFinestInterval = (spanMs: number): Interval =>
  intervals.find((interval) => spanMs / 1_000 / buckets[interval].seconds <= maxPoints) ?? 'toStartOfMonth'
