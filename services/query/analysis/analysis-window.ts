import type { Call } from '#proto/call.ts'
import { type Interval, intervals } from '#proto/catalogue.ts'
import type { Window } from '#proto/query.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { Scope } from '../definitions/macros.ts'
import { buckets, checkedZone, type ChartWindow, chartWindow } from '../definitions/window.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'

/** Maximum points of a time series, unless the caller requests a finer interval. */
const maxPoints = 200
const defaultHours = 24

/** The time window of an analysis and the macro scope of its statements. */
export interface AnalysisScope {
  window: ChartWindow
  scope: Scope
}

/** Resolves the requested window. The default interval is the finest one within the maximum number of points. */
export const analyzed = async (
  parts: Parts,
  host: MonitoredHost,
  request: Window,
  call: Call,
): Promise<AnalysisScope> => {
  const zone = checkedZone(request.timezone)
  const span = analysisSpan(request, parts.clock.now() + parts.probe.skewMs(host.key))
  const interval = request.interval ? span.interval : fewEnough(span.toMs - span.fromMs)
  const window = { ...span, interval }
  const { logs }: Capabilities = await parts.client.capabilities(host, call)
  return { window, scope: { window, zone, logs } }
}

/** Returns the requested time range, or the last 24 hours. Throws `invalid` for an empty range. */
export const analysisSpan = (request: Window, hostNowMs: number): ChartWindow => {
  const span = chartWindow({ lastHours: defaultHours, interval: 'toStartOfMinute' }, request, hostNowMs)
  // A definition with `lastHours` always has a window.
  if (!span) throw new Error('cannot run the analysis: no time range')
  return span
}

const fewEnough = (spanMs: number): Interval =>
  intervals.find((interval) => spanMs / 1_000 / buckets[interval].seconds <= maxPoints) ?? 'toStartOfMonth'

/** Returns a window as it appears in responses. */
export const shownWindow = ({ interval, fromMs, toMs }: ChartWindow) => ({ interval: interval ?? null, fromMs, toMs })
