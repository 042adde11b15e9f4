import { detector, severityOf } from '../measures/detector.ts'
import { duration } from '../measures/words.ts'

const limits = { info: 300, warning: 1_800 }

/** A statement has been running for long. */
export const longQuery = detector({
  kind: 'long-query',
  signal: 'time that statements have been running',
  window: 'now',
  sets: ['running-queries'],
  link: '/tables/running-queries',
  detect({ 'running-queries': rows }) {
    // One insight for each pattern: its oldest statement.
    const oldest = new Map(
      rows.toSorted((one, other) => one.elapsedSeconds - other.elapsedSeconds).map((row) => [row.hash, row]),
    )
    return {
      notes: [],
      sights: [...oldest.values()].flatMap(({ hash, user, kind, elapsedSeconds }) => {
        const severity = severityOf(elapsedSeconds, limits)
        return severity === undefined
          ? []
          : {
              subject: hash,
              severity,
              title: `A ${kind || 'statement'} has been running for ${duration(elapsedSeconds)}`,
              detail: `It was sent by ${user || 'a user without name'}.`,
              baseline: limits.info,
              value: elapsedSeconds,
              unit: 'seconds',
              score: null,
              confidence: 'high',
            }
      }),
    }
  },
})
