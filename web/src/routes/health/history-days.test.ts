import { expect, it } from 'vitest'
import { groupHistoryByDay } from './history-days.ts'

const line = (id: string, at: string) => ({
  id,
  kind: 'fire',
  ruleId: 'restarted',
  episode: id,
  severity: 'warning' as const,
  title: 'Server restarted',
  value: 1,
  threshold: 1,
  sinceMs: 0,
  atMs: Date.parse(at),
  reason: '',
  hostId: 0,
  host: 'one',
})

it('groups entries by day in the zone, in their order', () => {
  const lines = [
    line('c', '2026-06-02T03:00:00Z'),
    line('b', '2026-06-01T23:00:00Z'),
    line('a', '2026-06-01T09:00:00Z'),
  ]
  const ids = (zone: string) => groupHistoryByDay(lines, zone).map((day) => day.lines.map(({ id }) => id))
  expect(ids('UTC')).toEqual([['c'], ['b', 'a']])
  expect(ids('Asia/Tokyo')).toEqual([['c', 'b'], ['a']])
})
