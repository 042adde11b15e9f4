/** Days from Monday on; 0 is Sunday, as in the API. */
export const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
  .map((short, day) => ({ day, short }))
  .toSorted((one, other) => ((one.day + 6) % 7) - ((other.day + 6) % 7))

/** Formats days: `Every day`, `Mon, Tue`. */
export const formatDays = (days: readonly number[]): string =>
  days.length === weekdays.length
    ? 'Every day'
    : weekdays
        .filter(({ day }) => days.includes(day))
        .map(({ short }) => short)
        .join(', ')
