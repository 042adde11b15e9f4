import { detector, nameOf, untold } from '../measures/detector.ts'
import { duration } from '../measures/words.ts'

const longSeconds = 3_600

/** A mutation fails again and again, or has been at it for more than an hour. */
export const stuckMutation = detector({
  kind: 'stuck-mutation',
  signal: 'age of mutations that are not done',
  window: 'now',
  sets: ['mutations'],
  link: '/tables/mutations',
  detect({ mutations }) {
    const ofPast = mutations.filter(({ ageSeconds }) => ageSeconds >= 0)
    if (ofPast.length < mutations.length)
      return untold('mutations: some began in the future, so the clock was set back')
    return {
      notes: [],
      sights: ofPast
        .filter(({ ageSeconds, isFailing }) => isFailing || ageSeconds >= longSeconds)
        .map((row) => ({
          subject: `${nameOf(row)} ${row.mutationId}`,
          severity: row.isFailing ? 'warning' : 'info',
          title: `A mutation of ${nameOf(row)} ${row.isFailing ? 'fails' : 'does not end'}`,
          detail: `${row.mutationId} began ${duration(row.ageSeconds)} ago and has ${partsOf(row.partsToDo)} to do.`,
          baseline: longSeconds,
          value: row.ageSeconds,
          unit: 'seconds',
          score: null,
          confidence: 'high',
        })),
    }
  },
})

const partsOf = (count: number): string => (count === 1 ? '1 part' : `${count} parts`)
