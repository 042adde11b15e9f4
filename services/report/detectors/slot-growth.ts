import { detector, severityOf } from '../measures/detector.ts'
import { bytes } from '../measures/words.ts'

const gibibyte = 1_024 ** 3
/** Bytes an hour. */
const limits = { info: gibibyte / 4, warning: gibibyte, critical: 10 * gibibyte }

/** A replication slot gets further and further behind. */
export const slotGrowth = detector({
  kind: 'slot-growth',
  signal: 'growth of the lag of replication slots',
  window: 'last hour',
  sets: ['replication-slots'],
  link: '/repldb',
  detect: ({ 'replication-slots': slots }) => ({
    notes: [],
    sights: slots.flatMap(({ slot, growthBytesPerHour: value }) => {
      const severity = value === null ? undefined : severityOf(value, limits)
      if (value === null || severity === undefined) return []
      return [
        {
          subject: slot,
          severity,
          title: `The slot ${slot} gets ${bytes(value)} an hour further behind`,
          detail:
            'Divide the free disk of the source by it to know how long that goes well; a large transaction shows like this and ends by itself.',
          baseline: 0,
          value,
          unit: 'bytes an hour',
          score: null,
          confidence: 'medium',
        },
      ]
    }),
  }),
})
