import { defineDetector, getSeverity } from '../detection/detector.ts'

const limits = { info: 300, warning: 1_800 }

/** Detects long-running queries. */
export const longQueryDetector = defineDetector({
  kind: 'long-query',
  signal: 'elapsed time of running queries',
  window: 'now',
  sets: ['running-queries'],
  link: '/tables/running-queries',
  detect({ 'running-queries': rows }) {
    // One insight per pattern, about its oldest query.
    const oldest = new Map(
      rows.toSorted((one, other) => one.elapsedSeconds - other.elapsedSeconds).map((row) => [row.hash, row]),
    )
    return {
      notes: [],
      observations: [...oldest.values()].flatMap(({ hash, user, kind, elapsedSeconds }) => {
        const severity = getSeverity(elapsedSeconds, limits)
        return severity === undefined
          ? []
          : {
              subject: hash,
              severity,
              title: `A ${kind || 'query'} runs for a long time`,
              detail: (when) =>
                `It started ${when(-elapsedSeconds)} and was still running when it was found. User: ${user || 'unknown'}.`,
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
