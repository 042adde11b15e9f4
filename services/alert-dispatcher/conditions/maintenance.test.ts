import { expect, it } from 'vitest'
import { isInMaintenance } from './mute-timings.ts'

const window = (hostKey: string | null, startsAtMs: number, endsAtMs: number) => ({
  id: `${startsAtMs}`,
  hostKey,
  reason: '',
  startsAtMs,
  endsAtMs,
})
const windows = [window('db', 100, 200), window(null, 300, 400), window('db', 150, 250)]

it.each<[string | null, number, boolean, string]>([
  ['db', 99, false, 'before it starts'],
  ['db', 100, true, 'when it starts'],
  ['db', 200, true, 'while another window goes on'],
  ['db', 249, true, 'until the last one ends'],
  ['db', 250, false, 'when the last one has ended'],
  ['logs', 150, false, 'as it is for another host'],
  ['logs', 300, true, 'as it is for all hosts'],
  ['logs', 399, true, 'until it ends for all hosts'],
  ['logs', 400, false, 'when it has ended for all hosts'],
  [null, 150, false, 'what is on no host goes on'],
  [null, 300, true, 'what is on no host waits with all'],
])('%s at %i: %s, %s', (hostKey, nowMs, expected) => {
  expect(isInMaintenance(windows, hostKey, nowMs)).toBe(expected)
})

it('is never without windows', () => {
  expect(isInMaintenance([], 'db', 0)).toBe(false)
})
