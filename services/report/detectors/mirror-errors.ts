import { defineDetector, getSeverity } from '../detection/detector.ts'
import { formatCount } from '../format.ts'

const limits = { info: 1, warning: 5, critical: 100 }

/** Detects mirrors of the replication service with errors in the last hour. */
export const mirrorErrorsDetector = defineDetector({
  kind: 'mirror-errors',
  signal: 'errors of mirrors',
  window: 'last hour',
  sets: ['replication-mirrors'],
  link: '/repldb',
  detect: ({ 'replication-mirrors': mirrors }) => ({
    notes: [],
    observations: mirrors.flatMap(({ mirror, errorsLastHour, commonError }) => {
      const value = errorsLastHour ?? 0
      const severity = getSeverity(value, limits)
      if (severity === undefined) return []
      return [
        {
          subject: mirror,
          severity,
          title: `The mirror ${mirror} had ${formatCount(value)} ${value === 1 ? 'error' : 'errors'}`,
          detail: `Most errors are retried, so a few are harmless. Most frequent: ${commonError}`,
          baseline: 0,
          value,
          unit: 'lines',
          score: null,
          confidence: 'high',
        },
      ]
    }),
  }),
})
