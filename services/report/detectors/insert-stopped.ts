import { detector, nameOf, untold } from '../measures/detector.ts'
import { figure } from '../measures/words.ts'

const leastHistoryHours = 170
const steadyHours = 20

/** Nothing is written into a table that is written into at this hour. */
export const insertStopped = detector({
  kind: 'insert-stopped',
  signal: 'rows inserted',
  window: 'last hour, against the same hour a day and a week ago',
  sets: ['inserts'],
  link: '/tables/part-log',
  detect({ inserts: rows }) {
    const historyHours = Math.max(0, ...rows.map((row) => row.historyHours))
    if (rows.length > 0 && historyHours < leastHistoryHours) {
      return untold('inserts: not enough history, the part log begins less than a week ago')
    }
    const stopped = rows.filter(({ lastHour, dayAgo, weekAgo }) => lastHour === 0 && dayAgo > 0 && weekAgo > 0)
    return {
      notes: [],
      sights: stopped.map((row) => ({
        subject: nameOf(row),
        severity: 'warning',
        title: `Nothing is inserted into ${nameOf(row)}`,
        detail: `No rows in the last hour; ${figure(row.dayAgo)} at this hour a day ago and ${figure(row.weekAgo)} a week ago.`,
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
