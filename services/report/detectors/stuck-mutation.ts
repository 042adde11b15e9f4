import { defineDetector, formatTableName, createNoDataOutcome } from '../detection/detector.ts'

const longSeconds = 3_600

/** Detects mutations that fail repeatedly or run for more than an hour. */
export const stuckMutationDetector = defineDetector({
  kind: 'stuck-mutation',
  signal: 'age of unfinished mutations',
  window: 'now',
  sets: ['mutations'],
  link: '/tables/mutations',
  detect({ mutations }) {
    const ofPast = mutations.filter(({ ageSeconds }) => ageSeconds >= 0)
    if (ofPast.length < mutations.length)
      return createNoDataOutcome('mutations: some start in the future; the clock was set back')
    return {
      notes: [],
      observations: ofPast
        .filter(({ ageSeconds, isFailing }) => isFailing || ageSeconds >= longSeconds)
        .map((row) => ({
          subject: `${formatTableName(row)} ${row.mutationId}`,
          severity: row.isFailing ? 'warning' : 'info',
          title: `A mutation of ${formatTableName(row)} ${row.isFailing ? 'fails' : 'is stuck'}`,
          detail: (when) =>
            `${row.mutationId} started ${when(-row.ageSeconds)}. It had ${formatParts(row.partsToDo)} left when it was found.`,
          baseline: longSeconds,
          value: row.ageSeconds,
          unit: 'seconds',
          score: null,
          confidence: 'high',
        })),
    }
  },
})

const formatParts = (count: number): string => (count === 1 ? '1 part' : `${count} parts`)
