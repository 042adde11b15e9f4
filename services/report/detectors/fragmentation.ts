import { defineDetector, formatTableName, getSeverity } from '../detection/detector.ts'

const limits = { info: 300, warning: 1_000 }

/** Detects tables with so many parts in one partition that queries become slow. */
export const fragmentationDetector = defineDetector({
  kind: 'fragmentation',
  signal: 'active parts of the fullest partition',
  window: 'now',
  sets: ['tables'],
  link: '/tables/part-info',
  detect: ({ tables }) => ({
    notes: [],
    observations: tables.flatMap((row) => {
      const value = row.partsInFullestPartition
      const severity = getSeverity(value, limits)
      return severity === undefined
        ? []
        : {
            subject: formatTableName(row),
            severity,
            title: `${formatTableName(row)} has ${value} parts in one partition`,
            detail: `Merges cannot keep up, or inserts are too small. ${row.parts} active parts hold ${row.rows} rows.`,
            baseline: limits.info,
            value,
            unit: 'parts',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
