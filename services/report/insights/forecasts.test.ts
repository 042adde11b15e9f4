import { describe, expect, it } from 'vitest'
import { createDiskHours, createPartHours } from '../testing/rows.ts'
import { forecastDisks, forecastPartCount } from './forecasts.ts'

const gibibyte = 1_024 ** 3

describe('a forecast of a disk', () => {
  it('is a range of days, with the spread and the error of an earlier forecast', () => {
    const { forecasts, notes } = forecastDisks(createDiskHours((hoursAgo) => 900 - hoursAgo * 0.5))
    expect(notes).toEqual([])
    expect(forecasts).toMatchObject([
      { what: 'disk', subject: 'default', now: 900 * gibibyte, limit: 1_000 * gibibyte },
    ])
    const [forecast] = forecasts
    expect(forecast?.perDay).toBeCloseTo(12 * gibibyte, -3)
    expect(forecast?.days?.soonest).toBeCloseTo(100 / 12, 6)
    expect(Math.abs(forecast?.forecastError ?? Number.NaN)).toBeLessThan(gibibyte / 1_000)
  })

  it('reports the error of the forecast of three days ago', () => {
    const [forecast] = forecastDisks(
      createDiskHours((hoursAgo) => (hoursAgo < 72 ? 500 + (72 - hoursAgo) : 500)),
    ).forecasts
    expect(forecast?.forecastError).toBe(-72 * gibibyte)
  })

  it('ranges from the rate of two days to the rate of two weeks', () => {
    const [forecast] = forecastDisks(
      createDiskHours((hoursAgo) => (hoursAgo < 48 ? 800 + (48 - hoursAgo) * 2 : 800 - (hoursAgo - 48) * 0.2)),
    ).forecasts
    expect(forecast?.days?.soonest).toBeCloseTo(104 / 48, 4)
    expect(forecast?.days?.latest).toBeGreaterThan(5)
  })

  it.each([
    ['a day of history', createDiskHours(() => 900, 24), /not enough history/],
    ['no numbers', createDiskHours(() => null), /not reported by this host/],
    ['nothing', [], /not reported by this host/],
  ])('of %s is a note', (_what, rows, words) => {
    const { forecasts, notes } = forecastDisks(rows)
    expect([forecasts, notes.join(' ')]).toEqual([[], expect.stringMatching(words)])
  })

  it('has a confidence by the length of its history, and is pending while the history is too short', () => {
    const of = (hours: number) => forecastDisks(createDiskHours((hoursAgo) => 900 - hoursAgo, hours))
    expect(of(80).forecasts).toMatchObject([{ confidence: 'medium', historyDays: 79 / 24 }])
    expect(of(336).forecasts).toMatchObject([{ confidence: 'high' }])
    expect(of(336).awaited).toEqual([])
    expect(of(24).awaited).toEqual([{ subject: 'default', hours: 23, neededHours: 72 }])
  })

  it('has no end for a disk that is cleaned up regularly', () => {
    const [forecast] = forecastDisks(createDiskHours((hoursAgo) => 400 - (hoursAgo % 168) * 1.5)).forecasts
    expect(forecast).toMatchObject({ days: null, perDay: null })
  })
})

describe('a forecast of parts', () => {
  it('is the time until inserts are rejected', () => {
    const { forecasts } = forecastPartCount(createPartHours((hoursAgo) => 2_000 - hoursAgo * 40))
    expect(forecasts).toMatchObject([{ what: 'parts', now: 2_000, limit: 3_000, days: { soonest: 25 / 24 } }])
  })

  it('has no end without steady growth, and is a note without history', () => {
    expect(forecastPartCount(createPartHours((hour) => 500 + (hour % 3))).forecasts).toMatchObject([{ days: null }])
    expect(forecastPartCount([]).notes).toEqual(['parts: not enough history, fewer than 12 hours of the last day'])
  })
})
