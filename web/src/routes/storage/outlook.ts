import type { Forecast } from '#lib/api/insights.ts'
import type { Used } from './disks.ts'

const dayMs = 86_400_000
/** So much of the time ahead is drawn, in lengths of the history: more would leave none of the history to see. */
const mostAhead = 10
/** The line at which it is full is reached before the edge of the drawing. */
const beyond = 1.1

/** How far ahead is drawn: until it is full, or as far as leaves the history to be seen; nothing where it does not grow. */
export const horizonMs = (historyMs: number, forecast: Forecast | undefined): number =>
  forecast?.days ? Math.min(mostAhead * historyMs, beyond * forecast.days.latest * dayMs) : 0

/** Between which lines a disk goes on, each until it is full or the drawing ends. */
export const coneOf = (
  last: Used,
  total: number,
  untilMs: number,
  forecast: Forecast | undefined,
): { upper: Used[]; lower: Used[] } | null => {
  if (!forecast?.days || untilMs <= last.timeMs) return null
  const edge = (days: number): Used[] => {
    const fullMs = last.timeMs + days * dayMs
    if (fullMs >= untilMs) {
      const share = (untilMs - last.timeMs) / Math.max(1, fullMs - last.timeMs)
      return [last, { timeMs: untilMs, bytes: last.bytes + share * (total - last.bytes) }]
    }
    return [last, { timeMs: fullMs, bytes: total }, { timeMs: untilMs, bytes: total }]
  }
  return { upper: edge(forecast.days.soonest), lower: edge(forecast.days.latest) }
}
