import { Temporal } from 'temporal-polyfill'
import type { Severity } from '#proto/rules.ts'
import type { MaintenanceWindow, QuietHours } from '../policy.ts'

/** Whether nobody is to be told anything about the host, or about a source by its name; a window of no host is for all of them. */
export const isInMaintenance = (
  windows: readonly MaintenanceWindow[],
  hostKey: string | null,
  nowMs: number,
): boolean =>
  windows.some(
    (window) =>
      window.startsAtMs <= nowMs && nowMs < window.endsAtMs && (window.hostKey === null || window.hostKey === hostKey),
  )

/** Whether people want quiet from findings of this severity. */
export const isQuiet = (windows: readonly QuietHours[], severity: Severity, nowMs: number): boolean =>
  windows.some((window) => (severity === 'warning' || window.severityCap !== 'critical') && isWithin(window, nowMs))

/**
 * The last answer for each window: a sweep asks the same of all its conditions, and zones take half a millisecond. A memory of a
 * pure function only, which goes with its window.
 */
const lastAnswers = new WeakMap<QuietHours, { nowMs: number; isWithin: boolean }>()

const isWithin = (window: QuietHours, nowMs: number): boolean => {
  const last = lastAnswers.get(window)
  if (last?.nowMs === nowMs) return last.isWithin
  const answer = { nowMs, isWithin: computeWithin(window, nowMs) }
  lastAnswers.set(window, answer)
  return answer.isWithin
}

const computeWithin = (window: QuietHours, nowMs: number): boolean => {
  const { days, start, end, timezone } = window
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone).toPlainDate()
  const isOvernight = end <= start
  // What began yesterday may last until today.
  const begins = isOvernight ? [today, today.subtract({ days: 1 })] : [today]
  return begins
    .filter(({ dayOfWeek }) => days.includes(dayOfWeek % 7))
    .some((date) => {
      const startsAtMs = firstPassing(wallTime(date, start), timezone)
      const endsAtMs = lastPassing(wallTime(isOvernight ? date.add({ days: 1 }) : date, end), timezone)
      return startsAtMs <= nowMs && nowMs < endsAtMs
    })
}

/** 24:00 is the midnight that ends the day. */
const wallTime = (date: Temporal.PlainDate, time: string): Temporal.PlainDateTime =>
  time === '24:00' ? date.add({ days: 1 }).toPlainDateTime() : date.toPlainDateTime(time)

/** When the clock on the wall first shows this time or a later one: a time that is skipped is passed when it is skipped. */
const firstPassing = (time: Temporal.PlainDateTime, timezone: string): number => {
  const [earlier, later] = bothReadings(time, timezone)
  return isSkipped(earlier, later) ? turnAfter(earlier) : earlier.epochMilliseconds
}

/** When the clock last shows an earlier time: what it shows twice is over when it is over for good. */
const lastPassing = (time: Temporal.PlainDateTime, timezone: string): number => {
  const [earlier, later] = bothReadings(time, timezone)
  if (isSkipped(earlier, later)) return turnAfter(earlier)
  // Turned back to this very time, it never shows an earlier one again.
  const isTurnedBackTo =
    earlier.epochMilliseconds < later.epochMilliseconds && turnAfter(earlier) === later.epochMilliseconds
  return (isTurnedBackTo ? earlier : later).epochMilliseconds
}

type Reading = Temporal.ZonedDateTime

/** The two ways to understand a time that clocks show twice or skip; the same one twice for all others. */
const bothReadings = (time: Temporal.PlainDateTime, timezone: string): [earlier: Reading, later: Reading] => [
  time.toZonedDateTime(timezone, { disambiguation: 'earlier' }),
  time.toZonedDateTime(timezone, { disambiguation: 'later' }),
]

const isSkipped = (earlier: Reading, later: Reading): boolean =>
  !earlier.toPlainDateTime().equals(later.toPlainDateTime())

/** When clocks are next turned; asked only of times that are known to have a turn behind them. */
const turnAfter = (time: Reading): number =>
  time.getTimeZoneTransition('next')?.epochMilliseconds ?? time.epochMilliseconds
