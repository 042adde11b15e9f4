import { detector, nothing, untold, severityOf } from '../measures/detector.ts'
import { forecastParts } from '../measures/forecast.ts'
import { duration, figure } from '../measures/words.ts'

const manyHours = 20
/** Fewer parts than this share of the limit are far from it however fast they grow. */
const leastShare = 0.1
const limits = { info: -72, warning: -24 }

/** Parts grow towards the number at which inserts are refused. */
export const partsRefused = detector({
  kind: 'parts-refused',
  signal: 'hours until inserts are refused for too many parts',
  window: 'the last 24 hours',
  sets: ['part-hours'],
  link: '/tables/part-info',
  detect({ 'part-hours': rows }) {
    const forecast = forecastParts(rows)
    if (typeof forecast === 'string') return untold(`parts: ${forecast}`)
    const { parts, refusedAt, hours, growth } = forecast
    const severity = growth && severityOf(-growth.hoursLeft, limits)
    if (!growth || !severity || parts < leastShare * refusedAt) return nothing
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity,
          title: `Inserts are refused in ${duration(growth.hoursLeft * 3_600)}`,
          detail: `The fullest partition has ${parts} parts and gets ${figure(growth.perHour)} more an hour; at ${refusedAt} inserts are refused.`,
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
