import { detector, nameOf, severityOf } from '../measures/detector.ts'
import { bytes, duration } from '../measures/words.ts'

/** Hours for which whole parts have been waiting to be removed. */
const limits = { info: 24, warning: 168 }

/** Rows that a TTL should have removed are still there. */
export const ttlHealth = detector({
  kind: 'ttl-health',
  signal: 'age of parts whose TTL has passed',
  window: 'now',
  sets: ['expired-parts'],
  link: '/tables/ttl-partition-health',
  detect: ({ 'expired-parts': rows }) => ({
    notes: [],
    sights: rows.flatMap((row) => {
      const severity = severityOf(row.oldestHours, limits)
      return severity === undefined
        ? []
        : {
            subject: nameOf(row),
            severity,
            title: `The TTL of ${nameOf(row)} is not carried out`,
            detail: `${row.parts} parts, ${bytes(row.bytes ?? 0)}, should have been removed, the oldest ${duration(row.oldestHours * 3_600)} ago.`,
            baseline: 0,
            value: row.oldestHours,
            unit: 'hours',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
