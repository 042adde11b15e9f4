import { detector, nameOf } from '../measures/detector.ts'

/** A replica takes no inserts. */
export const readonlyReplica = detector({
  kind: 'readonly-replica',
  signal: 'read-only replicas',
  window: 'now',
  sets: ['replicas'],
  link: '/tables/readonly-tables',
  detect: ({ replicas }) => ({
    notes: [],
    sights: replicas
      .filter(({ isReadonly }) => isReadonly)
      .map((row) => ({
        subject: nameOf(row),
        severity: 'critical',
        title: `${nameOf(row)} is read-only`,
        detail:
          'The replica takes no inserts and fetches nothing; mostly its session with Keeper is lost or its metadata there is gone.',
        baseline: 0,
        value: 1,
        unit: 'replicas',
        score: null,
        confidence: 'high',
      })),
  }),
})
