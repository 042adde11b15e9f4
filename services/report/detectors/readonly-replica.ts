import { defineDetector, formatTableName } from '../detection/detector.ts'

/** Detects read-only replicas. */
export const readonlyReplicaDetector = defineDetector({
  kind: 'readonly-replica',
  signal: 'read-only replicas',
  window: 'now',
  sets: ['replicas'],
  link: '/tables/readonly-tables',
  detect: ({ replicas }) => ({
    notes: [],
    observations: replicas
      .filter(({ isReadonly }) => isReadonly)
      .map((row) => ({
        subject: formatTableName(row),
        severity: 'critical',
        title: `${formatTableName(row)} is read-only`,
        detail:
          'The replica rejects inserts and fetches no parts. Usually its Keeper session is lost or its metadata in Keeper is missing.',
        baseline: 0,
        value: 1,
        unit: 'replicas',
        score: null,
        confidence: 'high',
      })),
  }),
})
