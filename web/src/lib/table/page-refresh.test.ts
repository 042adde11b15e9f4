import { describe, expect, it } from 'vitest'
import { getPageRefreshMs } from './page-refresh.ts'

const byDefault = { ms: 60_000, isOwn: false }

describe('refresh interval of a table page', () => {
  it.each([
    ['the default', { name: 'merges' }, byDefault, Number.NaN, 60_000],
    ['the interval of the table', { name: 'merges', refreshSeconds: 10 }, byDefault, Number.NaN, 10_000],
    [
      'the selected interval',
      { name: 'merges', refreshSeconds: 10 },
      { ms: 300_000, isOwn: true },
      Number.NaN,
      300_000,
    ],
    ['off while paused', { name: 'merges', refreshSeconds: 10 }, { ms: false, isOwn: false }, Number.NaN, false],
    [
      'the build variable for running queries',
      { name: 'running-queries', refreshSeconds: 10 },
      byDefault,
      5_000,
      5_000,
    ],
    ['not the build variable for other tables', { name: 'merges' }, byDefault, 5_000, 60_000],
    ['not an invalid build variable', { name: 'running-queries' }, byDefault, 0, 60_000],
  ] as const)('is %s', (_, table, chosen, runningMs, expected) => {
    expect(getPageRefreshMs({ refreshSeconds: undefined, ...table }, chosen, runningMs)).toBe(expected)
  })
})
