const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: true })
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** A number to be read: three digits that count; in words when it is none. */
export const figure = (value: number): string => (Number.isFinite(value) ? number.format(value) : 'unknown')

const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
/** A count, with all its digits. */
export const count = (value: number): string => exact.format(value)

/** A size to be read. */
export const bytes = (value: number): string => {
  const power = value >= 1 ? Math.min(units.length - 1, Math.floor(Math.log2(value) / 10)) : 0
  return `${figure(value / 1_024 ** power)} ${units[power]}`
}

/** A length of time to be read. */
export const duration = (seconds: number): string => {
  if (seconds < 120) return `${figure(seconds)} s`
  if (seconds < 7_200) return `${figure(seconds / 60)} minutes`
  return seconds < 172_800 ? `${figure(seconds / 3_600)} hours` : `${figure(seconds / 86_400)} days`
}

/** A share to be read. */
export const percent = (share: number): string => `${figure(share * 100)} %`

/** Two numbers to be read; one of them where they read alike. */
export const range = (from: number, to: number): string =>
  figure(from) === figure(to) ? figure(from) : `${figure(from)} to ${figure(to)}`
