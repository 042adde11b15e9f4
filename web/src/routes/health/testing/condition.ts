import type { ActiveCondition } from '#lib/api/health.ts'

/** Returns an example condition for tests, with these fields replaced. */
export const createCondition = (fields: Partial<ActiveCondition>): ActiveCondition => ({
  hostId: 0,
  host: 'one',
  source: null,
  ruleId: 'disk-usage',
  episode: 'e',
  title: 'Disk usage',
  unit: 'percent',
  phase: 'firing',
  severity: 'warning',
  value: 91.5,
  threshold: 90,
  offenders: [],
  sinceMs: 0,
  evaluatedAtMs: 0,
  lastNotifiedAtMs: null,
  held: null,
  acknowledged: null,
  dismissed: null,
  ...fields,
})
