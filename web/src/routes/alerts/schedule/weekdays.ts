/** From Monday on; 0 is Sunday, as the service counts. */
export const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
  .map((short, day) => ({ day, short }))
  .toSorted((one, other) => ((one.day + 6) % 7) - ((other.day + 6) % 7))

/** `Every day`, `Mon, Tue`. */
export const daysWords = (days: readonly number[]): string =>
  days.length === weekdays.length
    ? 'Every day'
    : weekdays
        .filter(({ day }) => days.includes(day))
        .map(({ short }) => short)
        .join(', ')
