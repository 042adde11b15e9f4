/** Formats a count with its noun: `3 conditions`, `1 condition`, `no conditions`. */
export const pluralize = (count: number, noun: string): string =>
  count === 0 ? `no ${noun}s` : `${count} ${noun}${count === 1 ? '' : 's'}`
