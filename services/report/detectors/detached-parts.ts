import { defineDetector, formatTableName, getSeverity } from '../detection/detector.ts'

const limits = { info: 10, warning: 50 }

/** Detects tables with many detached parts. */
export const detachedPartsDetector = defineDetector({
  kind: 'detached-parts',
  signal: 'detached parts',
  window: 'now',
  sets: ['detached-parts'],
  link: '/tables/detached_parts',
  detect: ({ 'detached-parts': rows }) => ({
    notes: [],
    observations: rows.flatMap((row) => {
      const severity = getSeverity(row.parts, limits)
      return severity === undefined
        ? []
        : {
            subject: formatTableName(row),
            severity,
            title: `${formatTableName(row)} has ${row.parts} detached parts`,
            detail: 'They use disk space and no query reads them. Attach or drop them.',
            baseline: limits.info,
            value: row.parts,
            unit: 'parts',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
