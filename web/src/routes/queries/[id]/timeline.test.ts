import { expect, it } from 'vitest'
import type { LoggedQueryDetail } from '#lib/api/analysis.ts'
import { createTimeline } from './timeline.ts'

const child = (queryId: string, endedMs: number, durationMs: number) => ({
  host: 'other',
  queryId,
  failed: false,
  endedMs,
  durationMs,
  kind: 'Select',
  query: '',
  sentFrom: '',
  memoryBytes: 0,
  readRows: 0,
  readBytes: 0,
  resultRows: 0,
  exceptionCode: 0,
  exception: '',
})

const detail = (...rows: ReturnType<typeof child>[]): Parameters<typeof createTimeline>[0] => {
  const summary = { queryId: 'q', kind: 'Select', status: 'finished', startedMs: 1_000, durationMs: 100 }
  // The timeline reads only these fields of the query detail.
  return { summary, children: { rows } } as LoggedQueryDetail
}

it('places subqueries within the query, earliest first', () => {
  const { lanes } = createTimeline(detail(child('late', 1_100, 50), child('early', 1_050, 50)), 'one')
  expect(lanes.map(({ queryId, left, width, isSelf }) => [queryId, left, width, isSelf])).toEqual([
    ['q', 0, 1, true],
    ['early', 0, 0.5, false],
    ['late', 0.5, 0.5, false],
  ])
})

it('extends to later ends, and keeps short queries visible', () => {
  const { fromMs, toMs, lanes } = createTimeline(detail(child('after', 1_200, 0)), 'one')
  expect([fromMs, toMs]).toEqual([1_000, 1_200])
  const [self, after] = lanes
  expect(self?.width).toBe(0.5)
  expect(after?.width).toBeGreaterThan(0)
  expect((after?.left ?? 0) + (after?.width ?? 0)).toBe(1)
})

it('handles a query of zero duration', () => {
  const whole = detail()
  expect(createTimeline({ ...whole, summary: { ...whole.summary, durationMs: 0 } }, 'one').lanes[0]?.left).toBe(0)
})
