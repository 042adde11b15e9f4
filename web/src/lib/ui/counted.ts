/** `3 conditions`, `1 condition`, `no condition`. */
export const counted = (count: number, noun: string): string =>
  count === 0 ? `no ${noun}` : `${count} ${noun}${count === 1 ? '' : 's'}`
