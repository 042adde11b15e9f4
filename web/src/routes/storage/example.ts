import type { Forecast } from '#lib/api/insights.ts'

/** A forecast for tests: of a disk of 1,000 bytes that is full in so many days. */
export const exampleForecast = (days: Forecast['days'], subject = 'default'): Forecast => ({
  what: 'disk',
  subject,
  unit: 'bytes',
  now: 850,
  limit: 1_000,
  perDay: days && 10,
  spread: 1,
  days,
  missedBy: null,
  outlook: '',
})
