import type { Interval } from '#proto/catalogue.ts'

interface Bucket {
  /** Average length. */
  seconds: number
  /** As `WITH FILL` takes it. */
  step: string
  /** The start of the bucket that an expression falls into, as a DateTime of the zone. */
  start(expression: string, zone: string | undefined): string
}

/** The zone as the last argument of a function of dates; nothing where the host's own is meant. */
export const zoned = (zone: string | undefined): string => (zone === undefined ? '' : `, '${zone}'`)
const simple = (name: string, seconds: number, step: string): Bucket => ({
  seconds,
  step,
  start: (expression, zone) => `${name}(${expression}${zoned(zone)})`,
})
const firstDayMonday = 1

/** What each interval of the allow-list means in SQL. */
export const buckets: Readonly<Record<Interval, Bucket>> = {
  toStartOfMinute: simple('toStartOfMinute', 60, 'toIntervalMinute(1)'),
  toStartOfFiveMinutes: simple('toStartOfFiveMinutes', 300, 'toIntervalMinute(5)'),
  toStartOfTenMinutes: simple('toStartOfTenMinutes', 600, 'toIntervalMinute(10)'),
  toStartOfFifteenMinutes: simple('toStartOfFifteenMinutes', 900, 'toIntervalMinute(15)'),
  toStartOfHour: simple('toStartOfHour', 3_600, 'toIntervalHour(1)'),
  toStartOfDay: simple('toStartOfDay', 86_400, 'toIntervalDay(1)'),
  toStartOfWeek: {
    seconds: 604_800,
    step: 'toIntervalWeek(1)',
    start: (expression, zone) =>
      `toDateTime(toStartOfWeek(${expression}, ${firstDayMonday}${zoned(zone)})${zoned(zone)})`,
  },
  toStartOfMonth: {
    seconds: 2_629_746,
    step: 'toIntervalMonth(1)',
    start: (expression, zone) => `toDateTime(toStartOfMonth(${expression}${zoned(zone)})${zoned(zone)})`,
  },
}
