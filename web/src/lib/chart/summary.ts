import { formatValue } from '#lib/ui/number.ts'
import { formatDayTime } from '#lib/ui/time.ts'
import type { RankList } from './ranks.ts'
import type { TimeSeries } from './series.ts'

/** Maximum number of series in a summary. The table view contains the rest. */
const maxSpoken = 4

/** Summarizes a time chart in one sentence for screen readers. */
export const summarizeSeries = (title: string, { times, series }: TimeSeries, zone: string): string => {
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return `${title}: no data`
  const parts = series.slice(0, maxSpoken).map((each) => {
    const values = each.values.filter((value) => value !== null)
    const latest = values.at(-1)
    const show = (value: number | undefined) => formatValue(value, each.unit)
    return `${each.label} now ${show(latest)}, between ${show(Math.min(...values))} and ${show(Math.max(...values))}`
  })
  const more = series.length > maxSpoken ? `; and ${series.length - maxSpoken} more series` : ''
  return `${title}, ${formatDayTime(first, zone)} to ${formatDayTime(last, zone)}: ${parts.join('; ')}${more}`
}

/** Summarizes a categorical chart in one sentence for screen readers. */
export const summarizeRankList = (title: string, { ranks, unit }: RankList): string => {
  const parts = ranks.slice(0, maxSpoken).map((rank) => `${rank.label} ${formatValue(rank.value, unit)}`)
  const more = ranks.length > maxSpoken ? `; and ${ranks.length - maxSpoken} more` : ''
  return parts.length > 0 ? `${title}: ${parts.join('; ')}${more}` : `${title}: no data`
}
