import { rangePresets, formatLength, type TimeRange } from '#lib/state/range.ts'
import { formatDayTime } from './time.ts'

/** Returns a time range as text: `Last 6 hours`, or two instants. */
export const formatRange = (range: TimeRange, zone: string): string => {
  if (range.kind === 'between')
    return `${formatDayTime(range.from * 1000, zone)} – ${formatDayTime(range.to * 1000, zone)}`
  return rangePresets.find(({ minutes }) => minutes === range.minutes)?.label ?? `Last ${formatLength(range.minutes)}`
}
