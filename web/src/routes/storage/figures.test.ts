import { describe, expect, it } from 'vitest'
import { exampleForecast } from './example.ts'
import { storageFigures } from './figures.ts'

const disk = { name: 'default', type: 'Local', path: '/', used: 850, free: 150, kept: 0, total: 1_000 }
const forecast = (subject: string, soonest: number | null) =>
  exampleForecast(soonest === null ? null : { soonest, latest: soonest + 7 }, subject)
const known = {
  disks: [{ ...disk, name: 'cold', used: 10 }, disk],
  forecasts: [forecast('cold', 30), forecast('default', 10)],
  growth: [{ grows: 5 }, { grows: -2 }],
  freeable: undefined,
  nowMs: Date.UTC(2026, 10, 22),
  zone: 'UTC',
}
const figure = (name: string, given: Partial<typeof known> = {}) =>
  storageFigures({ ...known, ...given }).find((each) => each.name === name)

describe('figures of storage', () => {
  it('name the fullest disk, and the first to be full with its dates', () => {
    expect(figure('Fullest disk')).toMatchObject({ value: 85, note: 'default' })
    expect(figure('First to be full')).toMatchObject({
      value: 'in 10 to 17 days',
      note: 'default, 02 Dec 2026 to 09 Dec 2026',
    })
  })

  it('tell growth of all tables, and nothing of what is not known', () => {
    expect(figure('Tables grow a day')?.value).toBe(3)
    expect(figure('Could be freed')?.value).toBeNull()
  })

  it.each([
    [[], 'not known yet'],
    [[forecast('default', null)], 'none'],
    [[forecast('default', 900)], 'not within two years'],
  ])('tell of the forecasts %j that the first is full %s', (forecasts, value) => {
    expect(figure('First to be full', { forecasts })?.value).toBe(value)
  })
})
