import type { Call } from '#proto/call.ts'
import type { Insight } from '#proto/insights.ts'

/** A person who may see everything and waits half a minute. */
export const aCall = (): Call => ({
  identity: { kind: 'user', subject: 'ada', features: 'all' },
  deadline: performance.now() + 30_000,
  signal: new AbortController().signal,
  priority: 'person',
})

/** An insight whose id is made of one letter. */
export const anInsight = (letter: string, more: Partial<Insight> = {}): Insight => ({
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
