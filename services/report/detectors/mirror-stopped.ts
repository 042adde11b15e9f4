import { detector, type Sight } from '../measures/detector.ts'

const stopped: Readonly<Record<string, Pick<Sight, 'severity' | 'detail'> & { words: string }>> = {
  failed: {
    severity: 'critical',
    words: 'has failed',
    detail: 'It copies nothing more, while the source keeps its log for it until its disk is full; read its errors.',
  },
  terminated: {
    severity: 'warning',
    words: 'is terminated',
    detail: 'It copies nothing more. Where it is no longer wanted its slot at the source should be gone as well.',
  },
  paused: {
    severity: 'info',
    words: 'is paused',
    detail: 'Meanwhile the source keeps its log for it; resume it once the work is done that it was paused for.',
  },
}

/** A mirror of the replication service copies nothing more. */
export const mirrorStopped = detector({
  kind: 'mirror-stopped',
  signal: 'states of mirrors',
  window: 'now',
  sets: ['replication-mirrors'],
  link: '/repldb',
  detect: ({ 'replication-mirrors': mirrors }) => ({
    notes: [],
    sights: mirrors.flatMap(({ mirror, state }) => {
      const found = stopped[state]
      if (!found) return []
      const { words, severity, detail } = found
      const figures = { baseline: 0, value: 1, unit: 'mirrors', score: null }
      return [
        { subject: mirror, severity, title: `The mirror ${mirror} ${words}`, detail, ...figures, confidence: 'high' },
      ]
    }),
  }),
})
