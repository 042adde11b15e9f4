import type { Unit } from '#proto/catalogue.ts'
import type { Insight } from '#lib/api/insights.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Units of detectors that figures elsewhere have too; any other is written behind the number. */
const known: Readonly<Record<string, Unit>> = {
  bytes: 'bytes',
  seconds: 'seconds',
  milliseconds: 'milliseconds',
  ms: 'milliseconds',
  percent: 'percent',
  '%': 'percent',
  ratio: 'ratio',
  count: 'count',
}

/** `27.3 days`, `26 s`, `1 KiB`. */
export const measured = (value: number | null, unit: string): string => {
  const form = known[unit]
  if (form || value === null) return formatValue(value, form ?? 'count')
  return `${formatValue(value, 'count')} ${unit}`.trim()
}

/** What was measured against what was to be expected. */
export const measuredAgainst = ({ value, baseline, unit }: Pick<Insight, 'value' | 'baseline' | 'unit'>): string => {
  if (value === null) return 'no figure'
  return baseline === null ? measured(value, unit) : `${measured(value, unit)} against ${measured(baseline, unit)}`
}

/** Times over which insights are looked for, in hours. */
export const periods = [
  { hours: 24, label: 'Last day' },
  { hours: 168, label: 'Last 7 days' },
  { hours: 720, label: 'Last 30 days' },
  { hours: 2_160, label: 'Last 90 days' },
] as const

export const usualHours = 168
