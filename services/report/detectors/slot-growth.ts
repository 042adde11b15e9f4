import { defineDetector, getSeverity } from '../detection/detector.ts'
import { formatBytes } from '../format.ts'

const gibibyte = 1_024 ** 3
/** Minimum growth of the lag by severity, in bytes per hour. */
const limits = { info: gibibyte / 4, warning: gibibyte, critical: 10 * gibibyte }

/** Detects replication slots whose lag grows. */
export const slotGrowthDetector = defineDetector({
  kind: 'slot-growth',
  signal: 'growth of the lag of replication slots',
  window: 'last hour',
  sets: ['replication-slots'],
  link: '/repldb',
  detect: ({ 'replication-slots': slots }) => ({
    notes: [],
    observations: slots.flatMap(({ slot, growthBytesPerHour: value }) => {
      const severity = value === null ? undefined : getSeverity(value, limits)
      if (value === null || severity === undefined) return []
      return [
        {
          subject: slot,
          severity,
          title: `The lag of slot ${slot} grows by ${formatBytes(value)} per hour`,
          detail:
            'Free disk space of the source divided by this rate is the time left. A large transaction looks the same and resolves by itself.',
          baseline: 0,
          value,
          unit: 'bytes per hour',
          score: null,
          confidence: 'medium',
        },
      ]
    }),
  }),
})
