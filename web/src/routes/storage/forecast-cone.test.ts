import { describe, expect, it } from 'vitest'
import { createExampleForecast } from './example-forecast.ts'
import { computeForecastCone, computeHorizonMs } from './forecast-cone.ts'

const dayMs = 86_400_000
const last = { timeMs: 0, bytes: 500 }

describe('forecast cone', () => {
  it('ends shortly after the disk is full, and leaves room for the history', () => {
    expect(computeHorizonMs(14 * dayMs, createExampleForecast({ soonest: 5, latest: 10 }))).toBe(11 * dayMs)
    expect(computeHorizonMs(3 * dayMs, createExampleForecast({ soonest: 5, latest: 100 }))).toBe(30 * dayMs)
    expect(computeHorizonMs(3 * dayMs, createExampleForecast(null))).toBe(0)
  })

  it('has two bounds, each until the disk is full', () => {
    const cone = computeForecastCone(last, 1_000, 11 * dayMs, createExampleForecast({ soonest: 5, latest: 10 }))
    expect(cone?.upper.map(({ timeMs, bytes }) => [timeMs / dayMs, bytes])).toEqual([
      [0, 500],
      [5, 1_000],
      [11, 1_000],
    ])
  })

  it('is cut off at the end of the chart', () => {
    const cone = computeForecastCone(last, 1_000, 5 * dayMs, createExampleForecast({ soonest: 10, latest: 20 }))
    expect([cone?.upper.at(-1)?.bytes, cone?.lower.at(-1)?.bytes]).toEqual([750, 625])
    expect(computeForecastCone(last, 1_000, 5 * dayMs, createExampleForecast(null))).toBeNull()
  })
})
