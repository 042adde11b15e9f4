/** Weekdays in display order, from Monday. The number 0 is Sunday, as in the API. */
export const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
  .map((short, day) => ({ day, short }))
  .toSorted((one, other) => ((one.day + 6) % 7) - ((other.day + 6) % 7))

/** Formats weekdays, for example `Mon, Tue` or `Every day`. */
export const formatDays = (days: readonly number[]): string =>
  days.length === weekdays.length
    ? 'Every day'
    : weekdays
        .filter(({ day }) => days.includes(day))
        .map(({ short }) => short)
        .join(', ')
