import { detector, nameOf, severityOf } from '../measures/detector.ts'
import { duration } from '../measures/words.ts'

const limits = { info: 60, warning: 600 }

/** A replica is behind the others. */
export const replicaLag = detector({
  kind: 'replica-lag',
  signal: 'seconds that a replica is behind',
  window: 'now',
  sets: ['replicas'],
  link: '/tables/replicas',
  detect: ({ replicas }) => ({
    notes: [],
    sights: replicas.flatMap((row) => {
      const severity = severityOf(row.delaySeconds, limits)
      return severity === undefined
        ? []
        : {
            subject: nameOf(row),
            severity,
            title: `${nameOf(row)} is ${duration(row.delaySeconds)} behind`,
            detail: `What is read from this replica may lack rows of the last ${duration(row.delaySeconds)}.`,
            baseline: 0,
            value: row.delaySeconds,
            unit: 'seconds',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
