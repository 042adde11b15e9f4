import type { Forecast } from '#lib/api/insights.ts'
import type { UsageSample } from './disks.ts'

const dayMs = 86_400_000
/** Maximum length of the forecast as a multiple of the history, so that the history stays readable. */
const maxAhead = 10
/** Factor by which the time axis extends beyond the time at which the disk is full. */
const marginFactor = 1.1

/** Returns how far the chart extends into the future, in milliseconds. Without growth, returns 0. */
export const computeHorizonMs = (historyMs: number, forecast: Forecast | undefined): number =>
  forecast?.days ? Math.min(maxAhead * historyMs, marginFactor * forecast.days.latest * dayMs) : 0

/** Returns the upper and lower bound of the forecast, each until the disk is full or the chart ends. */
export const computeForecastCone = (
  last: UsageSample,
  total: number,
  untilMs: number,
  forecast: Forecast | undefined,
): { upper: UsageSample[]; lower: UsageSample[] } | null => {
  if (!forecast?.days || untilMs <= last.timeMs) return null
  const edge = (days: number): UsageSample[] => {
    const fullMs = last.timeMs + days * dayMs
    if (fullMs >= untilMs) {
      const share = (untilMs - last.timeMs) / Math.max(1, fullMs - last.timeMs)
      return [last, { timeMs: untilMs, bytes: last.bytes + share * (total - last.bytes) }]
    }
    return [last, { timeMs: fullMs, bytes: total }, { timeMs: untilMs, bytes: total }]
  }
  return { upper: edge(forecast.days.soonest), lower: edge(forecast.days.latest) }
}
