import { defineDetector, emptyOutcome, createNoDataOutcome } from '../detection/detector.ts'

const minErrors = 3
const manyErrors = 100
const minHistoryHours = 72
const weekHours = 168

/** Detects error codes that did not occur in the last week. */
export const newErrorCodeDetector = defineDetector({
  kind: 'new-error-code',
  signal: 'error codes of queries',
  window: 'last day, against the seven days before',
  sets: ['error-codes'],
  link: '/tables/common-errors',
  detect({ 'error-codes': rows }) {
    const historyHours = Math.max(0, ...rows.map((row) => row.historyHours))
    if (rows.length === 0) return emptyOutcome
    if (historyHours < minHistoryHours)
      return createNoDataOutcome('error codes: not enough history, the log begins less than 3 days ago')
    const fresh = rows.filter(({ recent, before }) => recent >= minErrors && before === 0)
    return {
      notes: [],
      observations: fresh.map(({ code, name, recent }) => ({
        subject: String(code),
        severity: recent >= manyErrors ? 'warning' : 'info',
        title: `${name || `Error ${code}`} is new`,
        detail: `${recent} queries failed with ${name || 'error'} (${code}) within one day, and none in the days before.`,
        baseline: 0,
        value: recent,
        unit: 'count',
        score: null,
        confidence: historyHours >= weekHours ? 'high' : 'medium',
      })),
    }
  },
})
