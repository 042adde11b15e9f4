import { describe, expect, it } from 'vitest'
import type { TimeRange } from '#lib/state/range.ts'
import { freezeRange, shareUrl } from './share-url.ts'

const nowMs = 1_700_000_000_500
const lastHour: TimeRange = { kind: 'last', minutes: 60 }
const page = (search: string) => new URL(`http://watch.example:3000/overview?${search}`)
const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams)

describe('a shared link', () => {
  it('has fixed times, so that it always shows the same', () => {
    const url = shareUrl(page('host=1&range=1h'), freezeRange(lastHour, nowMs), null)
    expect(parametersOf(url)).toEqual({ host: '1', from: '1699996400', to: '1700000000' })
  })

  it('states a relative range, even if it is the default one of the page', () => {
    const url = shareUrl(page('host=1&from=1&to=2&filter=a.eq.b'), { kind: 'last', minutes: 1440 }, null)
    expect(parametersOf(url)).toEqual({ host: '1', range: '24h', filter: 'a.eq.b' })
  })

  it.each([
    ['previous', 1_699_992_800],
    ['day', 1_699_910_000],
    ['week', 1_699_391_600],
    [1_699_000_000, 1_699_000_000],
  ] as const)('fixes the comparison with %s to its start', (comparison, start) => {
    const range = freezeRange(lastHour, nowMs)
    const url = shareUrl(page('compare=1'), range, { comparison, nowMs, zone: 'UTC' })
    expect(parametersOf(url)['compare']).toBe(String(start))
  })

  it('keeps an absolute range', () => {
    const range: TimeRange = { kind: 'between', from: 10, to: 20 }
    expect(freezeRange(range, nowMs)).toBe(range)
  })
})
