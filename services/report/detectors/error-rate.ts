import { detector, nothing, untold } from '../measures/detector.ts'
import { percent } from '../measures/words.ts'

const leastCalls = 20
const leastErrors = 5
const leastScore = 5
const leastHours = 12
/** Half again as many is worth telling, twice as many warns. */
const ratios = { info: 1.5, warning: 2 }

/** More statements fail than on the day before: what chance would not explain. */
export const errorRate = detector({
  kind: 'error-rate',
  signal: 'share of statements that fail',
  window: 'last hour, against the 24 hours before',
  sets: ['query-hours'],
  link: '/tables/failed-queries',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0)) return untold('error rate: the log has entries of the future')
    const now = rows.find(({ hoursAgo }) => hoursAgo === 0)
    const before = rows.filter(({ hoursAgo }) => hoursAgo >= 1 && hoursAgo <= 24)
    if (before.length < leastHours) return untold('error rate: not enough history, fewer than 12 hours of the last day')
    if (!now || now.calls < leastCalls || now.errors < leastErrors) return nothing
    const calls = before.reduce((sum, row) => sum + row.calls, 0)
    const errors = before.reduce((sum, row) => sum + row.errors, 0)
    // One more failure than there was: a day without any would make every failure infinitely unlikely.
    const usual = Math.min(0.99, (errors + 1) / (calls + 1))
    const value = now.errors / now.calls
    const score = (now.errors - now.calls * usual) / Math.sqrt(now.calls * usual * (1 - usual))
    if (score < leastScore || value < usual * ratios.info) return nothing
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity: value >= usual * ratios.warning ? 'warning' : 'info',
          title: `${percent(value)} of statements fail`,
          detail: `${now.errors} of ${now.calls} statements of the last hour failed; on the day before it was ${percent(errors / Math.max(1, calls))}.`,
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
