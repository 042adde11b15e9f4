import { detector } from '../measures/detector.ts'

const failed = new Set(['FAILED', 'FAILED_AND_RELOADING'])

/** A dictionary could not be loaded, or not again. */
export const failedDictionary = detector({
  kind: 'failed-dictionary',
  signal: 'dictionaries that fail to load',
  window: 'now',
  sets: ['dictionaries'],
  link: '/tables/dictionaries',
  detect: ({ dictionaries }) => ({
    notes: [],
    sights: dictionaries
      .filter(({ status, isFailing }) => isFailing || failed.has(status))
      .map(({ database, name, status }) => ({
        subject: database === '' ? name : `${database}.${name}`,
        severity: 'warning',
        title: `Dictionary ${name} fails to load`,
        detail: failed.has(status)
          ? 'Whoever asks it gets an error.'
          : 'What was loaded before is still used, and grows old.',
        baseline: 0,
        value: 1,
        unit: 'dictionaries',
        score: null,
        confidence: 'high',
      })),
  }),
})
