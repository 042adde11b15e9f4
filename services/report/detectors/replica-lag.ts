import { defineDetector, formatTableName, getSeverity } from '../detection/detector.ts'
import { formatSeconds } from '../format.ts'

const limits = { info: 60, warning: 600 }

/** Detects replicas with a replication delay of a minute or more. */
export const replicaLagDetector = defineDetector({
  kind: 'replica-lag',
  signal: 'replication delay in seconds',
  window: 'now',
  sets: ['replicas'],
  link: '/tables/replicas',
  detect: ({ replicas }) => ({
    notes: [],
    observations: replicas.flatMap((row) => {
      const severity = getSeverity(row.delaySeconds, limits)
      return severity === undefined
        ? []
        : {
            subject: formatTableName(row),
            severity,
            title: `${formatTableName(row)} is ${formatSeconds(row.delaySeconds)} behind`,
            detail: 'Queries on this replica miss the rows that it has not fetched yet.',
            baseline: 0,
            value: row.delaySeconds,
            unit: 'seconds',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
