import { describe, expect, it } from 'vitest'
import type { ChartData, ChartResult } from '#proto/query.ts'
import { ChartInfo } from '#proto/catalogue.ts'
import { findCommonFailure, findHostOutage, mergeChartResults } from './chart-states.ts'

const chart = ChartInfo.parse({
  name: 'a',
  topic: 'queries',
  title: 'A',
  doc: 'It shows.',
  feature: 'METRICS',
  kind: 'number',
  columns: [{ name: 'n', role: 'value' }],
})
const data: ChartData = { chart, rows: [{ n: 1 }], window: null, unavailable: null, statement: null }
const good: ChartResult = { ok: true, data }
const bad: ChartResult = { ok: false, error: { code: 'unavailable', message: 'one does not answer' } }

describe('chart states', () => {
  it('keep the data and its time when a refresh fails', () => {
    const first = mergeChartResults(undefined, { a: good, b: good }, 1)
    const second = mergeChartResults(first, { a: bad, b: good }, 2)
    expect(second.a).toEqual({ data, failure: 'one does not answer', receivedAtMs: 1 })
    expect(second.b).toEqual({ data, failure: null, receivedAtMs: 2 })
  })

  it('have no data for a chart that never loaded', () => {
    expect(mergeChartResults(undefined, { a: bad }, 1).a?.data).toBeUndefined()
  })

  it('report a failure that all charts share once', () => {
    expect(findCommonFailure(mergeChartResults(undefined, { a: bad, b: bad }, 1))).toBe('one does not answer')
    expect(findCommonFailure(mergeChartResults(undefined, { a: bad, b: good }, 1))).toBeNull()
    expect(findCommonFailure(mergeChartResults(undefined, { a: good, b: good }, 1))).toBeNull()
    expect(findCommonFailure(undefined)).toBeNull()
  })

  it('report an outage when the host is unreachable for all charts', () => {
    const silent = (message: string): ChartResult => ({
      ok: false,
      error: { code: 'unavailable', message, details: { host: 'one', reason: 'unreachable' } },
    })
    expect(findHostOutage({ a: silent('one cannot be reached'), b: silent('one is silent') })).toMatchObject({
      message: 'one cannot be reached',
      details: { host: 'one' },
    })
    expect(findHostOutage({ a: silent('one cannot be reached'), b: good })).toBeNull()
    expect(findHostOutage({ a: bad, b: bad })).toBeNull()
    expect(findHostOutage({})).toBeNull()
  })
})
