import type { Unit } from '#proto/catalogue.ts'
import { formatDay, formatTimeWithSeconds, formatTime } from '#lib/ui/time.ts'
import { preferences } from '#lib/state/preferences.ts'
import { computeZoneOffsetMs } from '#lib/state/zone.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Distances between ticks of a time axis, in milliseconds: round numbers of seconds, minutes, hours and days. */
const timeStepsMs = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds / 60),
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  180,
  360,
  720,
  1440,
  2880,
  7 * 1440,
  14 * 1440,
  30 * 1440,
  90 * 1440,
  365 * 1440,
].map((minutes) => minutes * minuteMs)

export interface TimeTick {
  timeMs: number
  label: string
}

/** Returns at most `count` round instants in a time zone. A tick at midnight is labelled with its date. */
export const computeTimeTicks = (fromMs: number, toMs: number, count: number, zone: string): TimeTick[] => {
  const step = timeStepsMs.find((each) => (toMs - fromMs) / each <= count) ?? toMs - fromMs
  if (!(step > 0)) return []
  const offset = computeZoneOffsetMs(fromMs, zone)
  const first = Math.ceil((fromMs + offset) / step) * step - offset
  const length = Math.max(0, Math.floor((toMs - first) / step) + 1)
  return Array.from({ length }, (_, index) => {
    const timeMs = first + index * step
    const isMidnight = (timeMs + offset) % dayMs === 0
    if (step >= dayMs || isMidnight) return { timeMs, label: formatDay(timeMs, zone) }
    return { timeMs, label: step < minuteMs ? formatTimeWithSeconds(timeMs, zone) : formatTime(timeMs, zone) }
  })
}

/** Distances between ticks for durations above two minutes, in seconds. */
const durationStepsSeconds = [30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]
const minSteppedSeconds = 120

const decimalSteps = [1, 2, 2.5, 5, 10]
const binarySteps = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** Returns about `count` round values that cover zero and the range from `lowest` to `highest`. */
export const computeValueTicks = (lowest: number, highest: number, count: number, unit: Unit): number[] => {
  const bottom = Math.min(0, lowest)
  const span = highest - bottom
  if (!(span > 0)) return [0, 1]
  const spanStep =
    unit === 'seconds' && span > minSteppedSeconds && durationStepsSeconds.find((each) => span / each <= count)
  if (spanStep) return listMultiples(bottom, highest, spanStep)
  const isBinary = (unit === 'bytes' || unit === 'bytes-per-second') && preferences.current.bytes === 'binary'
  const base = isBinary ? 1024 : 10
  const magnitude = base ** Math.floor(Math.log(span / count) / Math.log(base))
  const step = (isBinary ? binarySteps : decimalSteps)
    .map((each) => each * magnitude)
    .find((each) => span / each <= count)
  const size = isWholeNumberUnit(unit) ? Math.max(1, Math.ceil(step ?? span)) : (step ?? span)
  return listMultiples(bottom, highest, size)
}

/** Returns the multiples of a step that enclose a range. */
const listMultiples = (lowest: number, highest: number, step: number): number[] => {
  const [from, to] = [Math.floor(lowest / step), Math.ceil(highest / step)]
  return Array.from({ length: to - from + 1 }, (_, index) => (from + index) * step)
}

/** Returns whether the values of a unit are whole numbers, for which fractional ticks make no sense. */
const isWholeNumberUnit = (unit: Unit): boolean => unit === 'count' || unit === 'rows'
