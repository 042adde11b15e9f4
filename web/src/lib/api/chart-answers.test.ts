import { describe, expect, it } from 'vitest'
import type { ChartData, ChartResult } from '#proto/query.ts'
import { ChartInfo } from '#proto/catalogue.ts'
import { commonFailure, outageOf, withResults } from './chart-answers.ts'

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

describe('answers of a batch of charts', () => {
  it('keep the data of a chart whose refresh failed, with its age', () => {
    const first = withResults(undefined, { a: good, b: good }, 1)
    const second = withResults(first, { a: bad, b: good }, 2)
    expect(second.a).toEqual({ data, failure: 'one does not answer', answeredAtMs: 1 })
    expect(second.b).toEqual({ data, failure: null, answeredAtMs: 2 })
  })

  it('have nothing to show of a chart that never answered', () => {
    expect(withResults(undefined, { a: bad }, 1).a?.data).toBeUndefined()
  })

  it('say a failure once that all of them share', () => {
    expect(commonFailure(withResults(undefined, { a: bad, b: bad }, 1))).toBe('one does not answer')
    expect(commonFailure(withResults(undefined, { a: bad, b: good }, 1))).toBeNull()
    expect(commonFailure(withResults(undefined, { a: good, b: good }, 1))).toBeNull()
    expect(commonFailure(undefined)).toBeNull()
  })

  it('are none at all where a host answers nothing, in whatever words it is told', () => {
    const silent = (message: string): ChartResult => ({
      ok: false,
      error: { code: 'unavailable', message, details: { host: 'one', reason: 'unreachable' } },
    })
    expect(outageOf({ a: silent('one cannot be reached'), b: silent('one is silent') })).toMatchObject({
      message: 'one cannot be reached',
      details: { host: 'one' },
    })
    expect(outageOf({ a: silent('one cannot be reached'), b: good })).toBeNull()
    expect(outageOf({ a: bad, b: bad })).toBeNull()
    expect(outageOf({})).toBeNull()
  })
})
