import { compare, sameHours } from '../measures/baseline.ts'
import { detector, nothing, untold } from '../measures/detector.ts'
import { duration, figure } from '../measures/words.ts'

const leastCalls = 20
const leastMs = 200
const leastScore = 5
const ratios = { info: 2, warning: 3 }

/** Statements take longer than at this hour of the week. */
export const p95Duration = detector({
  kind: 'p95-duration',
  signal: '95th percentile of the time statements take',
  window: 'last hour, against the same hour of earlier weeks',
  sets: ['query-hours'],
  link: '/tables/slow-queries',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0)) return untold('duration: the log has entries of the future')
    const now = rows.find(({ hoursAgo }) => hoursAgo === 0)
    const before = sameHours(rows.filter(({ calls, p95Ms }) => calls >= leastCalls && p95Ms !== null))
    if (!before) return untold('duration: not enough history of this hour of the day or week')
    if (!now || now.calls < leastCalls) return nothing
    if (now.p95Ms === null) return untold('duration: the host tells no number')
    const usual = compare(
      now.p95Ms,
      before.rows.flatMap(({ p95Ms }) => p95Ms ?? []),
      leastMs / 10,
    )
    if (!usual || usual.score < leastScore) return nothing
    if (now.p95Ms < usual.baseline * ratios.info || now.p95Ms - usual.baseline < leastMs) return nothing
    const times = now.p95Ms / Math.max(1, usual.baseline)
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity: times >= ratios.warning ? 'warning' : 'info',
          title: `Statements take ${figure(times)} times as long as usual`,
          detail: `One in twenty of ${now.calls} statements took longer than ${duration(now.p95Ms / 1_000)}; usual at this hour is ${duration(usual.baseline / 1_000)}.`,
          ...usual,
          value: now.p95Ms,
          unit: 'ms',
          confidence: before.confidence,
          window: before.window,
        },
      ],
    }
  },
})
