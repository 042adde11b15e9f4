import { detector, nothing, untold } from '../insights/detector.ts'
import { fitLine } from '../insights/line.ts'
import { severityOf } from '../insights/severity.ts'
import { duration, figure } from '../insights/words.ts'

const leastHours = 12
const fitHours = 24
const risingHours = 6
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
    const told = rows
      .flatMap(({ hoursAgo, parts, refusedAt }) =>
        parts === null || !refusedAt || hoursAgo < 0 || hoursAgo >= fitHours ? [] : { hoursAgo, parts, refusedAt },
      )
      .toSorted((one, other) => other.hoursAgo - one.hoursAgo)
    const last = told.at(-1)
    if (!last || told.length < leastHours)
      return untold('parts: not enough history, fewer than 12 hours of the last day')
    const latest = told.slice(-risingHours).map(({ parts }) => parts)
    const isRising = latest.every((parts, index) => index === 0 || parts > (latest[index - 1] ?? parts))
    const line = fitLine(told.map(({ hoursAgo, parts }) => ({ x: -hoursAgo, y: parts })))
    if (!isRising || !line || line.slope <= 0 || last.parts < leastShare * last.refusedAt) return nothing
    const hours = Math.max(0, last.refusedAt - last.parts) / line.slope
    const severity = severityOf(-hours, limits)
    if (severity === undefined) return nothing
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity,
          title: `Inserts are refused in ${duration(hours * 3_600)}`,
          detail: `The fullest partition has ${last.parts} parts and gets ${figure(line.slope)} more an hour; at ${last.refusedAt} inserts are refused.`,
          baseline: last.refusedAt,
          value: hours,
          unit: 'hours',
          score: null,
          confidence: told.length >= 20 ? 'high' : 'medium',
        },
      ],
    }
  },
})
