import { detector, untold } from '../measures/detector.ts'
import { duration, percent } from '../measures/words.ts'

const leastHistoryHours = 72
const weekHours = 168
const shares = { info: 0.05, warning: 0.25 }
const leastMs = 10_000

/** A pattern of statements that did not run before takes a good part of the time. */
export const newPattern = detector({
  kind: 'new-pattern',
  signal: 'time of patterns of statements',
  window: 'last day, against the seven days before',
  sets: ['fingerprint-days'],
  link: '/tables/slow-query-patterns',
  detect({ 'fingerprint-days': rows }) {
    const historyHours = Math.max(0, ...rows.map((row) => row.historyHours))
    if (rows.length > 0 && historyHours < leastHistoryHours) {
      return untold('new patterns: not enough history, the log begins less than 3 days ago')
    }
    const known = new Set(rows.filter(({ daysAgo }) => daysAgo >= 1).map(({ hash }) => hash))
    const fresh = rows.filter(({ hash, daysAgo, totalMs, dayTotalMs }) => {
      return daysAgo === 0 && !known.has(hash) && totalMs >= leastMs && totalMs >= shares.info * dayTotalMs
    })
    return {
      notes: [],
      sights: fresh.map(({ hash, kind, calls, totalMs, dayTotalMs }) => ({
        subject: hash,
        severity: totalMs >= shares.warning * dayTotalMs ? 'warning' : 'info',
        title: `A new ${kind || 'statement'} pattern takes ${percent(totalMs / dayTotalMs)} of the time`,
        detail: `It ran ${calls} times on the last day, ${duration(totalMs / 1_000)} in all, and not in the days before.`,
        baseline: 0,
        value: totalMs / dayTotalMs,
        unit: 'share',
        score: null,
        confidence: historyHours >= weekHours ? 'high' : 'medium',
      })),
    }
  },
})
