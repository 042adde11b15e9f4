import { defineDetector } from '../detection/detector.ts'

const failedStates = new Set(['FAILED', 'FAILED_AND_RELOADING'])

/** Detects dictionaries that fail to load or reload. */
export const failedDictionaryDetector = defineDetector({
  kind: 'failed-dictionary',
  signal: 'dictionaries that fail to load',
  window: 'now',
  sets: ['dictionaries'],
  link: '/tables/dictionaries',
  detect: ({ dictionaries }) => ({
    notes: [],
    observations: dictionaries
      .filter(({ status, isFailing }) => isFailing || failedStates.has(status))
      .map(({ database, name, status }) => ({
        subject: database === '' ? name : `${database}.${name}`,
        severity: 'warning',
        title: `Dictionary ${name} fails to load`,
        detail: failedStates.has(status)
          ? 'Queries that use it fail.'
          : 'The last loaded version is still used and becomes stale.',
        baseline: 0,
        value: 1,
        unit: 'dictionaries',
        score: null,
        confidence: 'high',
      })),
  }),
})
