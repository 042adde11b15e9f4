import { defineDetector, getSeverity } from '../detection/detector.ts'

/** Limits in hours since the start of the copy. A copy that takes longer than a day is usually stuck. */
const limits = { info: 0, warning: 24 }

const changesLater =
  'It replicates changes after the initial copy of all tables; until then the source retains WAL for it.'
const stuck =
  'It does not replicate changes yet, and the source retains WAL for it. Check which table is stuck, and its errors.'

/** Detects mirrors of the replication service that are still in the initial copy. */
export const mirrorCopyingDetector = defineDetector({
  kind: 'mirror-copying',
  signal: 'initial copies of mirrors',
  window: 'now',
  sets: ['replication-mirrors'],
  link: '/repldb',
  detect: ({ 'replication-mirrors': mirrors }) => ({
    notes: [],
    observations: mirrors.flatMap(({ mirror, copyingHours: value }) => {
      const severity = value === null ? undefined : getSeverity(value, limits)
      if (value === null || severity === undefined) return []
      return [
        {
          subject: mirror,
          severity,
          title: `The mirror ${mirror} is still copying`,
          detail: (when) =>
            `The initial copy started ${when(-value * 3_600)}. ${severity === 'info' ? changesLater : stuck}`,
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
