import { defineDetector, formatTableName, getSeverity } from '../detection/detector.ts'
import { formatBytes } from '../format.ts'

/** Limits in hours since all rows of the oldest expired part should have been removed. */
const limits = { info: 24, warning: 168 }

/** Detects tables with expired parts that the TTL has not removed. */
export const ttlHealthDetector = defineDetector({
  kind: 'ttl-health',
  signal: 'age of parts whose TTL has passed',
  window: 'now',
  sets: ['expired-parts'],
  link: '/tables/ttl-partition-health',
  detect: ({ 'expired-parts': rows }) => ({
    notes: [],
    observations: rows.flatMap((row) => {
      const severity = getSeverity(row.oldestHours, limits)
      return severity === undefined
        ? []
        : {
            subject: formatTableName(row),
            severity,
            title: `The TTL of ${formatTableName(row)} is not applied`,
            detail: (when) =>
              `${row.parts} parts, ${formatBytes(row.bytes ?? 0)}, should have been removed, the oldest ${when(-row.oldestHours * 3_600)}.`,
            baseline: 0,
            value: row.oldestHours,
            unit: 'hours',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
