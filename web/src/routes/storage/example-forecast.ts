import type { Forecast } from '#lib/api/insights.ts'

/** Returns a forecast for a disk of 1,000 bytes, for tests. */
export const createExampleForecast = (days: Forecast['days'], subject = 'default'): Forecast => ({
  what: 'disk',
  subject,
  unit: 'bytes',
  now: 850,
  limit: 1_000,
  perDay: days && 10,
  spread: 1,
  days,
  forecastError: null,
  summary: '',
})
