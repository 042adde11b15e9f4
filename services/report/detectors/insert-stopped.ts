import { defineDetector, formatTableName, createNoDataOutcome } from '../detection/detector.ts'
import { formatNumber } from '../format.ts'

const minHistoryHours = 170
const steadyHours = 20

/** Detects tables without inserts in the last hour that had some at the same hour a day and a week ago. */
export const insertStoppedDetector = defineDetector({
  kind: 'insert-stopped',
  signal: 'rows inserted',
  window: 'last hour, against the same hour a day and a week ago',
  sets: ['inserts'],
  link: '/tables/part-log',
  detect({ inserts: rows }) {
    const historyHours = Math.max(0, ...rows.map((row) => row.historyHours))
    if (rows.length > 0 && historyHours < minHistoryHours) {
      return createNoDataOutcome('inserts: not enough history, the part log begins less than a week ago')
    }
    const stopped = rows.filter(({ lastHour, dayAgo, weekAgo }) => lastHour === 0 && dayAgo > 0 && weekAgo > 0)
    return {
      notes: [],
      observations: stopped.map((row) => ({
        subject: formatTableName(row),
        severity: 'warning',
        title: `No inserts into ${formatTableName(row)}`,
        detail: `No rows within one hour; ${formatNumber(row.dayAgo)} at the same hour a day earlier and ${formatNumber(row.weekAgo)} a week earlier.`,
        baseline: Math.min(row.dayAgo, row.weekAgo),
        value: 0,
        unit: 'rows',
        score: null,
        confidence: row.activeHours >= steadyHours ? 'high' : 'medium',
        show: { filter: `table.eq.${row.table}` },
      })),
    }
  },
})
