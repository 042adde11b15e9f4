/** A date, a time of day or both, as a text states it. */
export interface Moment {
  text: string
  start: number
  end: number
  /** The year, or null for a text such as `12 November`. */
  year: number | null
  /** The month and the day, such as `11-27`; null for a time alone. */
  day: string | null
  /** The minute of the day; null for a date alone. */
  minute: number | null
  /** The second; null if the text does not state it. */
  second: number | null
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const month = `(?<month>${monthNames.join('|')})[a-z]*\\.?`
const year = String.raw`(?<year>(?:19|20)\d\d)`
const datePatterns: readonly RegExp[] = [
  new RegExp(String.raw`(?<![\d.-])${year}-(?<number>0[1-9]|1[0-2])-(?<day>[0-2]\d|3[01])(?!\d)`, 'gi'),
  new RegExp(String.raw`\b(?<day>[0-3]?\d)(?:st|nd|rd|th)?\.? (?:of )?${month}(?:,? ${year})?(?![a-z\d])`, 'gi'),
  new RegExp(String.raw`\b${month} (?<day>[0-3]?\d)(?:st|nd|rd|th)?(?:,? ${year})?\b(?![.,]?\d)(?! ?%)`, 'gi'),
]
const timePattern =
  /(?<![\d.,:])(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)(?:\.\d+)?)?(?![\d:]|\s?h\b)/g

/** Finds the dates and the times of day in a text. A date and a time beside it are one moment. */
export const findMoments = (text: string): Moment[] => {
  const dates = datePatterns.flatMap((pattern) => [...text.matchAll(pattern)].map(toDate))
  // A date may match several patterns. The first one decides.
  const distinct = dates.filter((date, index) => !dates.slice(0, index).some((other) => overlap(date, other)))
  const times = [...text.matchAll(timePattern)].map(toTime)
  const all = [...distinct, ...times].toSorted((one, other) => one.start - other.start)
  const merged: Moment[] = []
  for (const moment of all) {
    const before = merged.at(-1)
    const isJoined =
      before !== undefined &&
      (before.day === null) !== (moment.day === null) &&
      (before.minute === null) !== (moment.minute === null) &&
      /^(?:,?\s?(?:at|on|um)?\s|T)$/.test(text.slice(before.end, moment.start))
    if (isJoined) merged[merged.length - 1] = join(before, moment, text)
    else merged.push(moment)
  }
  return merged
}

const overlap = (one: Moment, other: Moment): boolean => one.start < other.end && other.start < one.end

const toDate = ({ 0: text, index, groups = {} }: RegExpMatchArray): Moment => {
  const number = groups.number ?? String(monthNames.indexOf((groups.month ?? '').toLowerCase()) + 1)
  const day = `${number.padStart(2, '0')}-${(groups.day ?? '').padStart(2, '0')}`
  const start = index ?? 0
  const stated = groups.year === undefined ? null : Number(groups.year)
  return { text, start, end: start + text.length, year: stated, day, minute: null, second: null }
}

const toTime = ({ 0: text, index, groups = {} }: RegExpMatchArray): Moment => {
  const start = index ?? 0
  const minute = Number(groups.hour) * 60 + Number(groups.minute)
  const second = groups.second === undefined ? null : Number(groups.second)
  return { text, start, end: start + text.length, year: null, day: null, minute, second }
}

const join = (one: Moment, other: Moment, text: string): Moment => ({
  text: text.slice(one.start, other.end),
  start: one.start,
  end: other.end,
  year: one.year ?? other.year,
  day: one.day ?? other.day,
  minute: one.minute ?? other.minute,
  second: one.second ?? other.second,
})

/** Returns the moment of a cell, if its whole text is one. */
export const toMoment = (text: string): Moment | undefined => {
  if (!/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text)) return undefined
  return findMoments(text)[0]
}

/** Returns whether a text states the moment of a cell, which may be rounded to the minute. */
export const isSameMoment = (cell: Moment, stated: Moment): boolean => {
  if (stated.year !== null && cell.year !== null && stated.year !== cell.year) return false
  if (stated.day !== null && cell.day !== null && stated.day !== cell.day) return false
  if (stated.minute === null || cell.minute === null) return stated.day !== null && cell.day !== null
  if (stated.second !== null) return stated.minute === cell.minute && stated.second === (cell.second ?? 0)
  const isRoundedUp = (cell.second ?? 0) >= 30 && stated.minute === cell.minute + 1
  return stated.minute === cell.minute || isRoundedUp
}
