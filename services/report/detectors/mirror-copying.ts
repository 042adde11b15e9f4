import { detector, severityOf } from '../measures/detector.ts'
import { duration } from '../measures/words.ts'

/** Hours. A first copy that takes longer than a day mostly does not get on. */
const limits = { info: 0, warning: 24 }

/** A mirror of the replication service still copies what was there, and follows no changes yet. */
export const mirrorCopying = detector({
  kind: 'mirror-copying',
  signal: 'first copies of mirrors',
  window: 'now',
  sets: ['replication-mirrors'],
  link: '/repldb',
  detect: ({ 'replication-mirrors': mirrors }) => ({
    notes: [],
    sights: mirrors.flatMap(({ mirror, copyingHours: value }) => {
      const severity = value === null ? undefined : severityOf(value, limits)
      if (value === null || severity === undefined) return []
      return [
        {
          subject: mirror,
          severity,
          title: `The mirror ${mirror} has been copying for ${duration(value * 3_600)}`,
          detail:
            severity === 'info'
              ? 'It follows changes once all tables are copied; until then the source keeps its log for it.'
              : 'It follows no changes yet, while the source keeps its log for it; look which table does not get on, and at its errors.',
          baseline: null,
          value,
          unit: 'hours',
          score: null,
          confidence: 'high',
        },
      ]
    }),
  }),
})
