import { defineDetector, emptyOutcome, createNoDataOutcome, getSeverity } from '../detection/detector.ts'
import { forecastParts } from '../detection/forecast.ts'
import { formatNumber } from '../format.ts'

const manyHours = 20
/** Growth is reported only if the number of parts has reached this share of the limit. */
const minShare = 0.1
const limits = { info: -72, warning: -24 }

/** Detects a partition whose number of parts grows towards the limit at which ClickHouse rejects inserts. */
export const tooManyPartsDetector = defineDetector({
  kind: 'parts-refused',
  signal: 'hours until inserts fail with too many parts',
  window: 'the last 24 hours',
  sets: ['part-hours'],
  link: '/tables/part-info',
  detect({ 'part-hours': rows }) {
    const forecast = forecastParts(rows)
    if (typeof forecast === 'string') return createNoDataOutcome(`parts: ${forecast}`)
    const { parts, refusedAt, hours, growth } = forecast
    const severity = growth && getSeverity(-growth.hoursLeft, limits)
    if (!growth || !severity || parts < minShare * refusedAt) return emptyOutcome
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity,
          title: 'Inserts will fail with too many parts',
          detail: (when) =>
            `At the current rate, inserts fail ${when(growth.hoursLeft * 3_600)}. The fullest partition had ${parts} parts and got ${formatNumber(growth.perHour)} more per hour; the limit is ${refusedAt} (parts_to_throw_insert).`,
          baseline: refusedAt,
          value: growth.hoursLeft,
          unit: 'hours',
          score: null,
          confidence: hours >= manyHours ? 'high' : 'medium',
        },
      ],
    }
  },
})
