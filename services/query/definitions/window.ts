import { isZone } from '#shared/config/display-zone.ts'
import { type ChartDefinition, type Interval, intervals, type TableDefinition } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import { lookBack, looksBack } from '#proto/look-back.ts'
import type { Span, Window } from '#proto/window.ts'
import { buckets } from './intervals.ts'

/** Points of one series; a finer interval than fits is made coarser. */
const maxPoints = 11_000
/** The same where nobody asked for an interval, as a chart may have many series. */
const usualPoints = 2_000
const maxHours = 8_760
const hourMs = 3_600_000
/** The end of a window that reaches to the present: it excludes what it names, and the second that runs now counts. */
export const endOfNow = '(now() + 1)'

/** The span of time a chart shows, as SQL and as milliseconds. */
export interface ChartWindow {
  interval: Interval | undefined
  /** A DateTime expression; the host's clock decides unless the asker gave instants. */
  since: string
  until: string
  fromMs: number
  toMs: number
}

/** The window to show: what was asked for, else what the definition says; none when the chart shows the present moment. */
export const chartWindow = (
  definition: Pick<ChartDefinition, 'interval' | 'lastHours'>,
  asked: Window,
  hostNowMs: number,
): ChartWindow | undefined => {
  if (definition.lastHours === undefined) return undefined
  const span = spanOf(definition.lastHours, asked, hostNowMs)
  const wanted = definition.interval && (asked.interval ?? definition.interval)
  const most = asked.interval === undefined ? usualPoints : maxPoints
  return { ...span, interval: wanted && coarseEnough(wanted, (span.toMs - span.fromMs) / 1_000, most) }
}

const spanOf = (defaultHours: number, asked: Window, hostNowMs: number): Omit<ChartWindow, 'interval'> => {
  const hours = asked.lastHours ?? defaultHours
  if (asked.from === undefined && asked.to === undefined) {
    const since = `(now() - toIntervalHour(${hours}))`
    return { since, until: endOfNow, fromMs: hostNowMs - hours * hourMs, toMs: hostNowMs }
  }
  const to = asked.to ?? Math.floor(hostNowMs / 1_000)
  const from = asked.from ?? to - hours * 3_600
  checkSpan(from, to)
  return { since: `toDateTime(${from})`, until: `toDateTime(${to})`, fromMs: from * 1_000, toMs: to * 1_000 }
}

const checkSpan = (from: number, to: number): void => {
  const wrong = (sentence: string) => new ServiceError('invalid', sentence, { details: { parameter: 'from' } })
  if (from >= to) throw wrong('from must be before to')
  if (to - from > maxHours * 3_600) throw wrong(`from and to must be at most ${maxHours} hours apart`)
}

/** The window of a table page: what was asked for, else its own parameter; none when it shows the present moment. */
export const tableWindow = (
  table: Pick<TableDefinition, 'parameters'>,
  { lastHours, from, to }: Span = {},
): Pick<ChartWindow, 'interval' | 'since' | 'until'> | undefined => {
  if (!looksBack(table)) {
    const [asked] = Object.entries({ lastHours, from, to }).find(([, value]) => value !== undefined) ?? []
    if (asked === undefined) return undefined
    throw new ServiceError('invalid', `${asked} is for pages that look back; this one shows the present moment`, {
      details: { parameter: asked },
    })
  }
  if (from !== undefined && to !== undefined) checkSpan(from, to)
  const until = to === undefined ? undefined : `toDateTime(${to})`
  const hours = `toIntervalHour({${lookBack}:UInt16})`
  return {
    interval: undefined,
    since: from === undefined ? `(${until ?? 'now()'} - ${hours})` : `toDateTime(${from})`,
    until: until ?? endOfNow,
  }
}

const coarseEnough = (wanted: Interval, spanSeconds: number, most: number): Interval => {
  const fits = (interval: Interval): boolean => spanSeconds / buckets[interval].seconds <= most
  return intervals.slice(intervals.indexOf(wanted)).find(fits) ?? 'toStartOfMonth'
}

/** A zone's name that may stand within SQL; `invalid` when there is no such zone. */
export const checkedZone = (zone: string | undefined): string | undefined => {
  if (zone === undefined || isZone(zone)) return zone
  throw new ServiceError('invalid', 'timezone must be an IANA name such as Europe/Berlin', {
    details: { parameter: 'timezone' },
  })
}
