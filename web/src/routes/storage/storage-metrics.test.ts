import { describe, expect, it } from 'vitest'
import { createExampleForecast } from './example-forecast.ts'
import { listStorageMetrics } from './storage-metrics.ts'

const disk = { name: 'default', type: 'Local', path: '/', used: 850, free: 150, reserved: 0, total: 1_000 }
const forecast = (subject: string, soonest: number | null) =>
  createExampleForecast(soonest === null ? null : { soonest, latest: soonest + 7 }, subject)
const data = {
  disks: [{ ...disk, name: 'cold', used: 10 }, disk],
  forecasts: [forecast('cold', 30), forecast('default', 10)],
  growth: [{ grows: 5 }, { grows: -2 }],
  freeable: undefined,
  nowMs: Date.UTC(2026, 10, 22),
  zone: 'UTC',
}
const figure = (name: string, changes: Partial<typeof data> = {}) =>
  listStorageMetrics({ ...data, ...changes }).find((each) => each.name === name)

describe('storage figures', () => {
  it('contain the fullest disk and the next full disk with dates', () => {
    expect(figure('Fullest disk')).toMatchObject({ value: 85, note: 'default' })
    expect(figure('Next disk to fill up')).toMatchObject({
      value: 'in 10 to 17 days',
      note: 'default, 02 Dec 2026 to 09 Dec 2026',
    })
  })

  it('contain the growth of all tables, and omit undata values', () => {
    expect(figure('Table growth per day')?.value).toBe(3)
    expect(figure('Reclaimable')?.value).toBeNull()
  })

  it.each([
    [[], 'no forecast yet'],
    [[forecast('default', null)], 'none'],
    [[forecast('default', 900)], 'not within two years'],
  ])('with forecasts %j report the next full disk as %s', (forecasts, value) => {
    expect(figure('Next disk to fill up', { forecasts })?.value).toBe(value)
  })
})
