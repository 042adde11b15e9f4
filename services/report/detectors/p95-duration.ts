import { compareWithBaseline, selectComparableHours } from '../detection/baseline.ts'
import { defineDetector, emptyOutcome, createNoDataOutcome } from '../detection/detector.ts'
import { formatSeconds, formatNumber } from '../format.ts'

const minCalls = 20
const minMs = 200
const minScore = 5
const ratios = { info: 2, warning: 3 }

/** Detects queries that take longer than usual at this hour of the week. */
export const p95DurationDetector = defineDetector({
  kind: 'p95-duration',
  signal: '95th percentile of query duration',
  window: 'last hour, against the same hour of earlier weeks',
  sets: ['query-hours'],
  link: '/tables/slow-queries',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0))
      return createNoDataOutcome('duration: the query log has entries from the future')
    const now = rows.find(({ hoursAgo }) => hoursAgo === 0)
    const before = selectComparableHours(rows.filter(({ calls, p95Ms }) => calls >= minCalls && p95Ms !== null))
    if (!before) return createNoDataOutcome('duration: not enough history of this hour of the day or week')
    if (!now || now.calls < minCalls) return emptyOutcome
    if (now.p95Ms === null) return createNoDataOutcome('duration: not reported by this host')
    const usual = compareWithBaseline(
      now.p95Ms,
      before.rows.flatMap(({ p95Ms }) => p95Ms ?? []),
      minMs / 10,
    )
    if (!usual || usual.score < minScore) return emptyOutcome
    if (now.p95Ms < usual.baseline * ratios.info || now.p95Ms - usual.baseline < minMs) return emptyOutcome
    const times = now.p95Ms / Math.max(1, usual.baseline)
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity: times >= ratios.warning ? 'warning' : 'info',
          title: `Queries take ${formatNumber(times)} times as long as usual`,
          detail: `The 95th percentile of ${now.calls} queries was ${formatSeconds(now.p95Ms / 1_000)}; usual at this hour is ${formatSeconds(usual.baseline / 1_000)}.`,
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
