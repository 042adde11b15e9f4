import { Temporal } from 'temporal-polyfill'
import type { Severity } from '#proto/rules.ts'
import type { MaintenanceWindow, QuietHours } from '../policy.ts'

/** Returns whether a maintenance window covers the host or source; a window without a host covers all. */
export const isInMaintenance = (
  windows: readonly MaintenanceWindow[],
  hostKey: string | null,
  nowMs: number,
): boolean =>
  windows.some(
    (window) =>
      window.startsAtMs <= nowMs && nowMs < window.endsAtMs && (window.hostKey === null || window.hostKey === hostKey),
  )

/** Returns whether quiet hours hold notifications of this severity. */
export const isInQuietHours = (windows: readonly QuietHours[], severity: Severity, nowMs: number): boolean =>
  windows.some((window) => (severity === 'warning' || window.severityCap !== 'critical') && isWithin(window, nowMs))

/**
 * Caches the last result per window, because a sweep repeats the check for every condition and time zone arithmetic
 * takes half a millisecond.
 */
const lastResults = new WeakMap<QuietHours, { nowMs: number; isWithin: boolean }>()

const isWithin = (window: QuietHours, nowMs: number): boolean => {
  const last = lastResults.get(window)
  if (last?.nowMs === nowMs) return last.isWithin
  const result = { nowMs, isWithin: computeWithin(window, nowMs) }
  lastResults.set(window, result)
  return result.isWithin
}

const computeWithin = (window: QuietHours, nowMs: number): boolean => {
  const { days, start, end, timezone } = window
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone).toPlainDate()
  const isOvernight = end <= start
  // An overnight window that started yesterday may last until today.
  const begins = isOvernight ? [today, today.subtract({ days: 1 })] : [today]
  return begins
    .filter(({ dayOfWeek }) => days.includes(dayOfWeek % 7))
    .some((date) => {
      const startsAtMs = findFirstPassing(toWallTime(date, start), timezone)
      const endsAtMs = findLastPassing(toWallTime(isOvernight ? date.add({ days: 1 }) : date, end), timezone)
      return startsAtMs <= nowMs && nowMs < endsAtMs
    })
}

/** Returns the date with a wall-clock time; 24:00 is the midnight at the end of the day. */
const toWallTime = (date: Temporal.PlainDate, time: string): Temporal.PlainDateTime =>
  time === '24:00' ? date.add({ days: 1 }).toPlainDateTime() : date.toPlainDateTime(time)

/** Returns when the wall clock first reaches this time. A time that is skipped is reached at the clock change. */
const findFirstPassing = (time: Temporal.PlainDateTime, timezone: string): number => {
  const [earlier, later] = interpretWallTime(time, timezone)
  return isSkipped(earlier, later) ? findNextTransition(earlier) : earlier.epochMilliseconds
}

/** Returns when the wall clock last reaches this time. For a time that occurs twice, this is the second occurrence. */
const findLastPassing = (time: Temporal.PlainDateTime, timezone: string): number => {
  const [earlier, later] = interpretWallTime(time, timezone)
  if (isSkipped(earlier, later)) return findNextTransition(earlier)
  // If the clock is set back to exactly this time, the first occurrence counts, because earlier times are not repeated.
  const isSetBackTo =
    earlier.epochMilliseconds < later.epochMilliseconds && findNextTransition(earlier) === later.epochMilliseconds
  return (isSetBackTo ? earlier : later).epochMilliseconds
}

type Reading = Temporal.ZonedDateTime

/** Returns the earlier and the later instant of a wall-clock time. They differ only if it is repeated or skipped. */
const interpretWallTime = (time: Temporal.PlainDateTime, timezone: string): [earlier: Reading, later: Reading] => [
  time.toZonedDateTime(timezone, { disambiguation: 'earlier' }),
  time.toZonedDateTime(timezone, { disambiguation: 'later' }),
]

const isSkipped = (earlier: Reading, later: Reading): boolean =>
  !earlier.toPlainDateTime().equals(later.toPlainDateTime())

/** Returns the next transition of the time zone. Callers only pass times that have one. */
const findNextTransition = (time: Reading): number =>
  time.getTimeZoneTransition('next')?.epochMilliseconds ?? time.epochMilliseconds
