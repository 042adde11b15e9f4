import { defineDetector, emptyOutcome, createNoDataOutcome } from '../detection/detector.ts'
import { formatPercent } from '../format.ts'

const minCalls = 20
const minErrors = 5
const minScore = 5
const minHours = 12
/** Minimum ratio between the current failure rate and that of the day before, by severity. */
const ratios = { info: 1.5, warning: 2 }

/** Detects a failure rate that is significantly higher than on the day before. */
export const errorRateDetector = defineDetector({
  kind: 'error-rate',
  signal: 'share of failed queries',
  window: 'last hour, against the 24 hours before',
  sets: ['query-hours'],
  link: '/tables/failed-queries',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0))
      return createNoDataOutcome('error rate: the query log has entries from the future')
    const now = rows.find(({ hoursAgo }) => hoursAgo === 0)
    const before = rows.filter(({ hoursAgo }) => hoursAgo >= 1 && hoursAgo <= 24)
    if (before.length < minHours)
      return createNoDataOutcome('error rate: not enough history, fewer than 12 hours of the last day')
    if (!now || now.calls < minCalls || now.errors < minErrors) return emptyOutcome
    const calls = before.reduce((sum, row) => sum + row.calls, 0)
    const errors = before.reduce((sum, row) => sum + row.errors, 0)
    // Adds one failure, because otherwise the score would be infinite after a day without failures.
    const usual = Math.min(0.99, (errors + 1) / (calls + 1))
    const value = now.errors / now.calls
    const score = (now.errors - now.calls * usual) / Math.sqrt(now.calls * usual * (1 - usual))
    if (score < minScore || value < usual * ratios.info) return emptyOutcome
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity: value >= usual * ratios.warning ? 'warning' : 'info',
          title: `${formatPercent(value)} of queries fail`,
          detail: `${now.errors} of ${now.calls} queries failed within one hour; in the 24 hours before, it was ${formatPercent(errors / Math.max(1, calls))}.`,
          baseline: usual,
          value,
          unit: 'share',
          score,
          confidence: before.length >= 20 ? 'high' : 'medium',
        },
      ],
    }
  },
})
