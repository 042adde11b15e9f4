const figureFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: true })
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Formats a number with three significant digits. Returns `unknown` if it is not finite. */
export const formatNumber = (value: number): string => (Number.isFinite(value) ? figureFormat.format(value) : 'unknown')

const integerFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
/** Formats an integer with all its digits. */
export const formatCount = (value: number): string => integerFormat.format(value)

/** Formats a number of bytes with a binary unit, such as `1.5 GiB`. */
export const formatBytes = (value: number): string => {
  const power = value >= 1 ? Math.min(units.length - 1, Math.floor(Math.log2(value) / 10)) : 0
  return `${formatNumber(value / 1_024 ** power)} ${units[power]}`
}

/** Formats a number of seconds with a suitable unit. */
export const formatSeconds = (seconds: number): string => {
  if (seconds < 120) return `${formatNumber(seconds)} s`
  if (seconds < 7_200) return `${formatNumber(seconds / 60)} minutes`
  return seconds < 172_800 ? `${formatNumber(seconds / 3_600)} hours` : `${formatNumber(seconds / 86_400)} days`
}

/** Formats an instant relative to the present, such as `3 hours ago` or `in 5 days`. */
export const formatRelativeTime = (atMs: number, nowMs: number): string => {
  const seconds = Math.round((nowMs - atMs) / 1_000)
  return seconds < 0 ? `in ${formatSeconds(-seconds)}` : `${formatSeconds(seconds)} ago`
}

/** Formats a share between 0 and 1 as a percentage. */
export const formatPercent = (share: number): string => `${formatNumber(share * 100)} %`

/** Formats a range; only one number if both ends are formatted the same. */
export const formatRange = (from: number, to: number): string =>
  formatNumber(from) === formatNumber(to) ? formatNumber(from) : `${formatNumber(from)} to ${formatNumber(to)}`
