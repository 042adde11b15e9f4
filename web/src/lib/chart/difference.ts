import type { Unit } from '#proto/catalogue.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Returns the difference to an earlier value, absolute and relative: `+20/min (+25%)`. Empty if a value is missing. */
export const formatDifference = (
  value: number | null | undefined,
  earlier: number | null | undefined,
  unit: Unit,
): string => {
  if (value == null || earlier == null) return ''
  const difference = value - earlier
  if (difference === 0) return '±0'
  const sign = difference > 0 ? '+' : '−'
  const absolute = `${sign}${formatValue(Math.abs(difference), unit)}`
  // A share of a percentage or of zero would be misleading.
  if (earlier === 0 || unit === 'percent') return absolute
  return `${absolute} (${sign}${formatPercent(Math.abs(difference / earlier) * 100)})`
}

/** From this increase on, a factor is easier to read than a percentage. */
const minFactorPercent = 1_000

const formatPercent = (percent: number): string =>
  percent >= minFactorPercent ? formatValue(percent / 100 + 1, 'ratio') : formatValue(percent, 'percent')

/** Returns the average of the values that are present; null if there are none. */
export const averageOf = (values: readonly (number | null)[]): number | null => {
  const found = values.filter((value) => value !== null)
  return found.length > 0 ? found.reduce((sum, value) => sum + value, 0) / found.length : null
}
