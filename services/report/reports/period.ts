import { Temporal } from 'temporal-polyfill'

/** A half-open span of time. */
export interface Period {
  fromMs: number
  toMs: number
}

/** A week that begins on Monday at midnight, named as ISO 8601 does. */
export interface Week extends Period {
  name: string
}

/** The last week that is over in a zone; it has an hour more or less where clocks were turned. */
export const lastWeek = (nowMs: number, zone: string): Week => {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).toPlainDate()
  const monday = today.subtract({ days: today.dayOfWeek - 1 })
  const begins = monday.subtract({ weeks: 1 })
  const startOf = (date: Temporal.PlainDate): number => date.toZonedDateTime(zone).epochMilliseconds
  const week = String(begins.weekOfYear ?? 0).padStart(2, '0')
  return { name: `${begins.yearOfWeek}-W${week}`, fromMs: startOf(begins), toMs: startOf(monday) }
}
