import { expect, it } from 'vitest'
import { findLastWeek } from './report-data.ts'

const hourMs = 3_600_000
const at = (text: string): number => Date.parse(text)

it.each([
  ['a Monday just after midnight', '2026-11-16T00:00:00Z', 'UTC', '2026-W46', '2026-11-09T00:00:00Z'],
  ['a Sunday just before midnight', '2026-11-15T23:59:59Z', 'UTC', '2026-W45', '2026-11-02T00:00:00Z'],
  ['a Sunday that is Monday in its zone', '2026-11-15T23:30:00Z', 'Europe/Berlin', '2026-W46', '2026-11-08T23:00:00Z'],
  [
    'a Monday that is Sunday in its zone',
    '2026-11-16T03:00:00Z',
    'America/New_York',
    '2026-W45',
    '2026-11-02T05:00:00Z',
  ],
  ['a year of 53 weeks', '2027-01-06T00:00:00Z', 'UTC', '2026-W53', '2026-12-28T00:00:00Z'],
  ['a new year that begins in the old week', '2026-01-05T12:00:00Z', 'UTC', '2026-W01', '2025-12-29T00:00:00Z'],
])('on %s returns the last week', (_what, now, zone, name, begins) => {
  const week = findLastWeek(at(now), zone)
  expect([week.name, week.fromMs]).toEqual([name, at(begins)])
})

it.each([
  ['2026-04-01T00:00:00Z', 167],
  ['2026-10-28T00:00:00Z', 169],
  ['2026-11-18T00:00:00Z', 168],
])('the week before %s has %d hours in Berlin, with clock changes', (now, hours) => {
  const { fromMs, toMs } = findLastWeek(at(now), 'Europe/Berlin')
  expect((toMs - fromMs) / hourMs).toBe(hours)
})
