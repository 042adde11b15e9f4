import type { LiveCondition } from '#lib/api/health.ts'

/** A condition in which what is told of it holds. */
export const conditionOf = (given: Partial<LiveCondition>): LiveCondition => ({
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
  judgedAtMs: 0,
  toldAtMs: null,
  held: null,
  acknowledged: null,
  dismissed: null,
  ...given,
})
