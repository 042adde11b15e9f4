import type { CallContext } from '#proto/call.ts'
import type { Insight } from '#proto/insights.ts'

/** Returns a call of a user with all features and a deadline of 30 seconds. */
export const createUserCall = (): CallContext => ({
  identity: { kind: 'user', subject: 'ada', features: 'all' },
  deadline: performance.now() + 30_000,
  signal: new AbortController().signal,
  priority: 'person',
})

/** Returns an insight whose id is this letter, repeated 32 times. */
export const createInsight = (letter: string, more: Partial<Insight> = {}): Insight => ({
  id: letter.repeat(32),
  hostKey: 'box',
  kind: 'disk-full',
  subject: `it's \\ "so"`,
  day: '2026-06-01',
  severity: 'warning',
  title: 'Disk fills',
  detail: 'In\nfive days.',
  signal: 'space used',
  window: '14 days',
  baseline: null,
  value: 5,
  unit: 'days',
  score: 1.5,
  confidence: 'high',
  evidenceSql: 'SELECT 1',
  link: '/tables/disks',
  foundAtMs: 1_780_000_000_123,
  dismissed: null,
  ...more,
})
