import { defineDetector, type Observation } from '../detection/detector.ts'

const stoppedStates: Readonly<Record<string, Pick<Observation, 'severity' | 'detail'> & { words: string }>> = {
  failed: {
    severity: 'critical',
    words: 'has failed',
    detail:
      'It no longer replicates, and the source retains WAL for it until its disk is full. Check the errors of the mirror.',
  },
  terminated: {
    severity: 'warning',
    words: 'is terminated',
    detail: 'It no longer replicates. If it is no longer needed, drop its replication slot on the source too.',
  },
  paused: {
    severity: 'info',
    words: 'is paused',
    detail: 'While it is paused, the source retains WAL for it. Resume the mirror when maintenance is done.',
  },
}

/** Detects mirrors of the replication service that are failed, terminated or paused. */
export const mirrorStoppedDetector = defineDetector({
  kind: 'mirror-stopped',
  signal: 'states of mirrors',
  window: 'now',
  sets: ['replication-mirrors'],
  link: '/repldb',
  detect: ({ 'replication-mirrors': mirrors }) => ({
    notes: [],
    observations: mirrors.flatMap(({ mirror, state }) => {
      const found = stoppedStates[state]
      if (!found) return []
      const { words, severity, detail } = found
      const figures = { baseline: 0, value: 1, unit: 'mirrors', score: null }
      return [
        { subject: mirror, severity, title: `The mirror ${mirror} ${words}`, detail, ...figures, confidence: 'high' },
      ]
    }),
  }),
})
