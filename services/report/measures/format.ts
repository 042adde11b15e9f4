const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: true })
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Formats a number with three significant digits; `unknown` if it is not finite. */
export const formatFigure = (value: number): string => (Number.isFinite(value) ? number.format(value) : 'unknown')

const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
/** Formats a count with all digits. */
export const formatCount = (value: number): string => exact.format(value)

/** Formats a size in bytes. */
export const formatBytes = (value: number): string => {
  const power = value >= 1 ? Math.min(units.length - 1, Math.floor(Math.log2(value) / 10)) : 0
  return `${formatFigure(value / 1_024 ** power)} ${units[power]}`
}

/** Formats a duration in seconds. */
export const formatSeconds = (seconds: number): string => {
  if (seconds < 120) return `${formatFigure(seconds)} s`
  if (seconds < 7_200) return `${formatFigure(seconds / 60)} minutes`
  return seconds < 172_800 ? `${formatFigure(seconds / 3_600)} hours` : `${formatFigure(seconds / 86_400)} days`
}

/** Formats a share as a percentage. */
export const formatPercent = (share: number): string => `${formatFigure(share * 100)} %`

/** Formats a range, or one number if both ends look the same. */
export const formatRange = (from: number, to: number): string =>
  formatFigure(from) === formatFigure(to) ? formatFigure(from) : `${formatFigure(from)} to ${formatFigure(to)}`
