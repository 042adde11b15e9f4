import { detector, qualifiedName, severityOf } from '../measures/detector.ts'
import { duration } from '../measures/words.ts'

const limits = { info: 60, warning: 600 }

/** Detects replicas with a replication delay of a minute or more. */
export const replicaLag = detector({
  kind: 'replica-lag',
  signal: 'replication delay in seconds',
  window: 'now',
  sets: ['replicas'],
  link: '/tables/replicas',
  detect: ({ replicas }) => ({
    notes: [],
    observations: replicas.flatMap((row) => {
      const severity = severityOf(row.delaySeconds, limits)
      return severity === undefined
        ? []
        : {
            subject: qualifiedName(row),
            severity,
            title: `${qualifiedName(row)} is ${duration(row.delaySeconds)} behind`,
            detail: `Queries on this replica may miss rows of the last ${duration(row.delaySeconds)}.`,
            baseline: 0,
            value: row.delaySeconds,
            unit: 'seconds',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
