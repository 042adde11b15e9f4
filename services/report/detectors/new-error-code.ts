import { detector, nothing, untold } from '../measures/detector.ts'

const leastErrors = 3
const manyErrors = 100
const leastHistoryHours = 72
const weekHours = 168

/** Statements fail in a way that was not seen for a week. */
export const newErrorCode = detector({
  kind: 'new-error-code',
  signal: 'error codes of statements',
  window: 'last day, against the seven days before',
  sets: ['error-codes'],
  link: '/tables/common-errors',
  detect({ 'error-codes': rows }) {
    const historyHours = Math.max(0, ...rows.map((row) => row.historyHours))
    if (rows.length === 0) return nothing
    if (historyHours < leastHistoryHours)
      return untold('error codes: not enough history, the log begins less than 3 days ago')
    const fresh = rows.filter(({ recent, before }) => recent >= leastErrors && before === 0)
    return {
      notes: [],
      sights: fresh.map(({ code, name, recent }) => ({
        subject: String(code),
        severity: recent >= manyErrors ? 'warning' : 'info',
        title: `${name || `Error ${code}`} is new`,
        detail: `${recent} statements of the last day failed with ${name || 'error'} (${code}), and none in the days before.`,
        baseline: 0,
        value: recent,
        unit: 'count',
        score: null,
        confidence: historyHours >= weekHours ? 'high' : 'medium',
      })),
    }
  },
})
