import { detector, nameOf, severityOf } from '../measures/detector.ts'

const limits = { info: 10, warning: 50 }

/** Parts were put aside, by the server or by people, and nobody came back for them. */
export const detachedParts = detector({
  kind: 'detached-parts',
  signal: 'detached parts',
  window: 'now',
  sets: ['detached-parts'],
  link: '/tables/detached_parts',
  detect: ({ 'detached-parts': rows }) => ({
    notes: [],
    sights: rows.flatMap((row) => {
      const severity = severityOf(row.parts, limits)
      return severity === undefined
        ? []
        : {
            subject: nameOf(row),
            severity,
            title: `${nameOf(row)} has ${row.parts} detached parts`,
            detail: 'They take space and are read by no query: attach them again, or drop them.',
            baseline: limits.info,
            value: row.parts,
            unit: 'parts',
            score: null,
            confidence: 'high',
          }
    }),
  }),
})
