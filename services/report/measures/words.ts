const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: true })
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Formats a number with three significant digits; `unknown` if it is not finite. */
export const figure = (value: number): string => (Number.isFinite(value) ? number.format(value) : 'unknown')

const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
/** Formats a count with all digits. */
export const count = (value: number): string => exact.format(value)

/** Formats a size in bytes. */
export const bytes = (value: number): string => {
  const power = value >= 1 ? Math.min(units.length - 1, Math.floor(Math.log2(value) / 10)) : 0
  return `${figure(value / 1_024 ** power)} ${units[power]}`
}

/** Formats a duration in seconds. */
export const duration = (seconds: number): string => {
  if (seconds < 120) return `${figure(seconds)} s`
  if (seconds < 7_200) return `${figure(seconds / 60)} minutes`
  return seconds < 172_800 ? `${figure(seconds / 3_600)} hours` : `${figure(seconds / 86_400)} days`
}

/** Formats a share as a percentage. */
export const percent = (share: number): string => `${figure(share * 100)} %`

/** Formats a range, or one number if both ends look the same. */
export const range = (from: number, to: number): string =>
  figure(from) === figure(to) ? figure(from) : `${figure(from)} to ${figure(to)}`
