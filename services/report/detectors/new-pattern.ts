import { defineDetector, createNoDataOutcome } from '../detection/detector.ts'
import { formatSeconds, formatPercent } from '../format.ts'

const minHistoryHours = 72
const weekHours = 168
const shares = { info: 0.05, warning: 0.25 }
const minMs = 10_000

/** Detects new query patterns that take a large share of the query time. */
export const newPatternDetector = defineDetector({
  kind: 'new-pattern',
  signal: 'total duration of query patterns',
  window: 'last day, against the seven days before',
  sets: ['fingerprint-days'],
  link: '/tables/slow-query-patterns',
  detect({ 'fingerprint-days': rows }) {
    const historyHours = Math.max(0, ...rows.map((row) => row.historyHours))
    if (rows.length > 0 && historyHours < minHistoryHours) {
      return createNoDataOutcome('new patterns: not enough history, the log begins less than 3 days ago')
    }
    const known = new Set(rows.filter(({ daysAgo }) => daysAgo >= 1).map(({ hash }) => hash))
    const fresh = rows.filter(({ hash, daysAgo, totalMs, dayTotalMs }) => {
      return daysAgo === 0 && !known.has(hash) && totalMs >= minMs && totalMs >= shares.info * dayTotalMs
    })
    return {
      notes: [],
      observations: fresh.map(({ hash, kind, calls, totalMs, dayTotalMs }) => ({
        subject: hash,
        severity: totalMs >= shares.warning * dayTotalMs ? 'warning' : 'info',
        title: `A new ${kind || 'query'} pattern takes ${formatPercent(totalMs / dayTotalMs)} of the query time`,
        detail: `It ran ${calls} times within one day, ${formatSeconds(totalMs / 1_000)} in total, and never in the days before.`,
        baseline: 0,
        value: totalMs / dayTotalMs,
        unit: 'share',
        score: null,
        confidence: historyHours >= weekHours ? 'high' : 'medium',
      })),
    }
  },
})
