import { detector, severityOf } from '../measures/detector.ts'
import { bytes } from '../measures/words.ts'

const mebibyte = 1_024 ** 2
/** The warning is where the replication service itself warns by default. */
const limits = { info: 1_000 * mebibyte, warning: 5_000 * mebibyte, critical: 50_000 * mebibyte }

/** A source keeps much of its log for a replication slot. */
export const slotLag = detector({
  kind: 'slot-lag',
  signal: 'lag of replication slots',
  window: 'now',
  sets: ['replication-slots'],
  link: '/repldb',
  detect: ({ 'replication-slots': slots }) => ({
    notes: [],
    sights: slots.flatMap(({ slot, lagBytes }) => {
      const severity = severityOf(lagBytes, limits)
      if (severity === undefined) return []
      return [
        {
          subject: slot,
          severity,
          title: `The slot ${slot} is ${bytes(lagBytes)} behind`,
          detail:
            'The source cannot remove log that a slot still needs, so its disk fills; look whether its mirror runs and keeps up.',
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
