import { defineDetector, getSeverity } from '../detection/detector.ts'
import { formatBytes } from '../format.ts'

const mebibyte = 1_024 ** 2
/** Limits of the lag, in bytes. The warning limit is the default of the replication service. */
const limits = { info: 1_000 * mebibyte, warning: 5_000 * mebibyte, critical: 50_000 * mebibyte }

/** Detects replication slots for which the source retains a large write-ahead log. */
export const slotLagDetector = defineDetector({
  kind: 'slot-lag',
  signal: 'lag of replication slots',
  window: 'now',
  sets: ['replication-slots'],
  link: '/repldb',
  detect: ({ 'replication-slots': slots }) => ({
    notes: [],
    observations: slots.flatMap(({ slot, lagBytes }) => {
      const severity = getSeverity(lagBytes, limits)
      if (severity === undefined) return []
      return [
        {
          subject: slot,
          severity,
          title: `The slot ${slot} is ${formatBytes(lagBytes)} behind`,
          detail:
            'The source cannot remove WAL that a slot needs, so its disk fills up. Check whether the mirror is running and keeps up.',
          baseline: null,
          value: lagBytes,
          unit: 'bytes',
          score: null,
          confidence: 'high',
        },
      ]
    }),
  }),
})
