import type { Unit } from '#proto/catalogue.ts'
import type { Insight } from '#lib/api/insights.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Display units of detector units. Other detector units are shown unchanged after the number. */
const displayUnits: Readonly<Record<string, Unit>> = {
  bytes: 'bytes',
  seconds: 'seconds',
  milliseconds: 'milliseconds',
  ms: 'milliseconds',
  percent: 'percent',
  '%': 'percent',
  ratio: 'ratio',
  count: 'count',
}

/** Formats a measured value, for example `27.3 days`, `26 s` or `1 KiB`. */
export const formatMeasuredValue = (value: number | null, unit: string): string => {
  const form = displayUnits[unit]
  if (form || value === null) return formatValue(value, form ?? 'count')
  return `${formatValue(value, 'count')} ${unit}`.trim()
}

/** Formats a measured value with its baseline. */
export const formatWithBaseline = ({ value, baseline, unit }: Pick<Insight, 'value' | 'baseline' | 'unit'>): string => {
  if (value === null) return 'no data'
  return baseline === null
    ? formatMeasuredValue(value, unit)
    : `${formatMeasuredValue(value, unit)}, baseline ${formatMeasuredValue(baseline, unit)}`
}

/** Time ranges of the list, in hours. */
export const insightPeriods = [
  { hours: 24, label: 'Last day' },
  { hours: 168, label: 'Last 7 days' },
  { hours: 720, label: 'Last 30 days' },
  { hours: 2_160, label: 'Last 90 days' },
] as const

export const defaultPeriodHours = 168
