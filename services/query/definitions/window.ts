import { type ChartDefinition, type Interval, intervals, type TableDefinition } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import { lookbackParameter, hasLookbackWindow } from '#proto/lookback.ts'
import { maxHours } from '#proto/time-limits.ts'
import type { TimeRangeInput, TimeWindow, UsedWindow } from '#proto/time-window.ts'
import { isTimeZone } from '#shared/config/shared-settings.ts'

/** Maximum points of one series. A finer interval is replaced by a coarser one. */
const maxPoints = 11_000
/** Maximum points without a requested interval, because a chart may have many series. */
const usualPoints = 2_000
const minuteMs = 60_000
/** The exclusive end of a window that reaches to the present and includes the current second. */
export const presentEndSql = '(now() + 1)'

/** The time window of a chart, as SQL expressions and in epoch milliseconds. */
export interface ChartWindow {
  interval: Interval | undefined
  /** A DateTime expression. It uses the clock of the host unless the caller requested absolute times. */
  since: string
  until: string
  fromMs: number
  toMs: number
  /** The length of a range that ends now, in minutes; null if the caller requested absolute times. */
  lastMinutes: number | null
}

/** Returns the requested window, else the default, or undefined for a chart of the current state. */
export const resolveChartWindow = (
  definition: Pick<ChartDefinition, 'interval' | 'minInterval' | 'lastHours'>,
  request: TimeWindow,
  hostNowMs: number,
): ChartWindow | undefined => {
  if (definition.lastHours === undefined) return undefined
  const span = spanOf(definition.lastHours, request, hostNowMs)
  const wanted = definition.interval && longerInterval(request.interval ?? definition.interval, definition.minInterval)
  const most = request.interval === undefined ? usualPoints : maxPoints
  return { ...span, interval: wanted && coarsenInterval(wanted, (span.toMs - span.fromMs) / 1_000, most) }
}

const spanOf = (defaultHours: number, request: TimeWindow, hostNowMs: number): Omit<ChartWindow, 'interval'> => {
  const lastMinutes = request.lastMinutes ?? (request.lastHours ?? defaultHours) * 60
  if (request.from === undefined && request.to === undefined) {
    const since = `(now() - ${buildLengthSql(lastMinutes)})`
    return { since, until: presentEndSql, fromMs: hostNowMs - lastMinutes * minuteMs, toMs: hostNowMs, lastMinutes }
  }
  const to = request.to ?? Math.floor(hostNowMs / 1_000)
  const from = request.from ?? to - lastMinutes * 60
  checkSpan(from, to)
  const [fromMs, toMs] = [from * 1_000, to * 1_000]
  return { since: `toDateTime(${from})`, until: `toDateTime(${to})`, fromMs, toMs, lastMinutes: null }
}

/** Returns a length of time as SQL. Whole hours keep the text that results are cached by. */
const buildLengthSql = (minutes: number): string =>
  minutes % 60 === 0 ? `toIntervalHour(${minutes / 60})` : `toIntervalMinute(${minutes})`

const checkSpan = (from: number, to: number): void => {
  const wrong = (sentence: string) => new ServiceError('invalid', sentence, { details: { parameter: 'from' } })
  if (from >= to) throw wrong('from must be before to')
  if (to - from > maxHours * 3_600) throw wrong(`from and to must be at most ${maxHours} hours apart`)
}

/** Returns the window of a table page, or undefined for a page of the current state. */
export const resolveTableWindow = (
  table: Pick<TableDefinition, 'parameters'>,
  { lastHours, lastMinutes, from, to }: TimeRangeInput = {},
): Pick<ChartWindow, 'interval' | 'since' | 'until'> | undefined => {
  if (!hasLookbackWindow(table)) {
    const [parameter] =
      Object.entries({ lastHours, lastMinutes, from, to }).find(([, value]) => value !== undefined) ?? []
    if (parameter === undefined) return undefined
    throw new ServiceError(
      'invalid',
      `${parameter} applies to historical pages only; this page shows the current state`,
      {
        details: { parameter },
      },
    )
  }
  if (from !== undefined && to !== undefined) checkSpan(from, to)
  const until = to === undefined ? undefined : `toDateTime(${to})`
  const length =
    lastMinutes === undefined ? `toIntervalHour({${lookbackParameter}:UInt16})` : buildLengthSql(lastMinutes)
  return {
    interval: undefined,
    since: from === undefined ? `(${until ?? 'now()'} - ${length})` : `toDateTime(${from})`,
    until: until ?? presentEndSql,
  }
}

/** Returns a window as it appears in responses. */
export const toResponseWindow = ({ interval, fromMs, toMs, lastMinutes }: ChartWindow): UsedWindow => ({
  interval: interval ?? null,
  fromMs,
  toMs,
  bucketSeconds: interval === undefined ? null : buckets[interval].seconds,
  lastMinutes,
})

/** Returns the longer one of two intervals. */
export const longerInterval = (wanted: Interval, shortest: Interval = wanted): Interval =>
  intervals.indexOf(wanted) < intervals.indexOf(shortest) ? shortest : wanted

const coarsenInterval = (wanted: Interval, spanSeconds: number, most: number): Interval => {
  const fits = (interval: Interval): boolean => spanSeconds / buckets[interval].seconds <= most
  return intervals.slice(intervals.indexOf(wanted)).find(fits) ?? 'toStartOfMonth'
}

/** Returns a time zone that is safe within SQL. Throws `invalid` for an unknown zone. */
export const validateZone = (zone: string | undefined): string | undefined => {
  if (zone === undefined || isTimeZone(zone)) return zone
  throw new ServiceError('invalid', 'timezone must be an IANA name such as Europe/Berlin', {
    details: { parameter: 'timezone' },
  })
}

interface Bucket {
  /** The average length in seconds. */
  seconds: number
  /** The STEP of `WITH FILL`. */
  step: string
  /** Returns SQL for the start of the bucket that contains an expression, as a DateTime. */
  start(expression: string, zone: string | undefined): string
}

/** Returns the time zone as the last argument of a date function; empty for the zone of the host. */
export const buildZoneArgument = (zone: string | undefined): string => (zone === undefined ? '' : `, '${zone}'`)
const simple = (name: string, seconds: number, step: string): Bucket => ({
  seconds,
  step,
  start: (expression, zone) => `${name}(${expression}${buildZoneArgument(zone)})`,
})
/** Older servers return DateTime64 for the buckets of a DateTime64, which WITH FILL cannot compare with its bounds. */
const ofSeconds = (seconds: number): Bucket => {
  const step = `toIntervalSecond(${seconds})`
  return {
    seconds,
    step,
    start: (expression, zone) => `toStartOfInterval(toDateTime(${expression}), ${step}${buildZoneArgument(zone)})`,
  }
}
const firstDayMonday = 1

/** The length and the SQL of the time buckets of each allowed interval. */
export const buckets: Readonly<Record<Interval, Bucket>> = {
  toStartOfFiveSeconds: ofSeconds(5),
  toStartOfTenSeconds: ofSeconds(10),
  toStartOfFifteenSeconds: ofSeconds(15),
  toStartOfThirtySeconds: ofSeconds(30),
  toStartOfMinute: simple('toStartOfMinute', 60, 'toIntervalMinute(1)'),
  toStartOfFiveMinutes: simple('toStartOfFiveMinutes', 300, 'toIntervalMinute(5)'),
  toStartOfTenMinutes: simple('toStartOfTenMinutes', 600, 'toIntervalMinute(10)'),
  toStartOfFifteenMinutes: simple('toStartOfFifteenMinutes', 900, 'toIntervalMinute(15)'),
  toStartOfHour: simple('toStartOfHour', 3_600, 'toIntervalHour(1)'),
  toStartOfDay: simple('toStartOfDay', 86_400, 'toIntervalDay(1)'),
  toStartOfWeek: {
    seconds: 604_800,
    step: 'toIntervalWeek(1)',
    start: (expression, zone) =>
      `toDateTime(toStartOfWeek(${expression}, ${firstDayMonday}${buildZoneArgument(zone)})${buildZoneArgument(zone)})`,
  },
  toStartOfMonth: {
    seconds: 2_629_746,
    step: 'toIntervalMonth(1)',
    start: (expression, zone) =>
      `toDateTime(toStartOfMonth(${expression}${buildZoneArgument(zone)})${buildZoneArgument(zone)})`,
  },
}
