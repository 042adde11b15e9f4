import { describe, expect, it } from 'vitest'
import { pageRefreshMs } from './page-refresh.ts'

const byDefault = { ms: 60_000, isOwn: false }

describe('how often a table page asks again', () => {
  it.each([
    ['as all pages do', { name: 'merges' }, byDefault, Number.NaN, 60_000],
    ['as the page wishes', { name: 'merges', refreshSeconds: 10 }, byDefault, Number.NaN, 10_000],
    ['as the reader chose', { name: 'merges', refreshSeconds: 10 }, { ms: 300_000, isOwn: true }, Number.NaN, 300_000],
    ['never while paused', { name: 'merges', refreshSeconds: 10 }, { ms: false, isOwn: false }, Number.NaN, false],
    ['as the build says of running queries', { name: 'running-queries', refreshSeconds: 10 }, byDefault, 5_000, 5_000],
    ['not as the build says of others', { name: 'merges' }, byDefault, 5_000, 60_000],
    ['not as a senseless build says', { name: 'running-queries' }, byDefault, 0, 60_000],
  ] as const)('is %s', (_, table, chosen, runningMs, expected) => {
    expect(pageRefreshMs({ refreshSeconds: undefined, ...table }, chosen, runningMs)).toBe(expected)
  })
})
