import { expect, it } from 'vitest'
import { queryPatternOrders, QueryPatternsRequest } from '#proto/fingerprints.ts'
import { patternChangeMeasures, PatternChangesRequest } from '#proto/pattern-changes.ts'
import { intervals } from '#proto/catalogue.ts'
import { buildRotatedLogExpressions } from '../clickhouse/capabilities.ts'
import type { MacroScope } from '../definitions/macros.ts'
import type { ChartWindow } from '../definitions/window.ts'
import { checkReadOnly } from '../read-only/read-only.ts'
import {
  computeLatencyCellStartMs,
  buildErrorsStatement,
  buildExecutionsStatement,
  buildLatencyStatement,
  buildSlowestExecutionsStatement,
  buildTrendStatement,
} from './fingerprint-parts.ts'
import { buildFingerprintListStatement, buildFingerprintDetailStatement } from './fingerprint-statement.ts'
import { buildPatternChangesStatement } from './pattern-changes.ts'
import { childQueriesSection, processorsSection, threadsSection, viewsSection } from './query-parts.ts'
import { buildLoggedQueryStatement, buildRunningQueryStatement } from './query-detail.ts'

const window: ChartWindow = {
  interval: 'toStartOfHour',
  since: '(now() - toIntervalHour(2))',
  until: 'now()',
  fromMs: 0,
  toMs: 7_200_000,
  lastMinutes: 120,
}
const scope: MacroScope = {
  window,
  zone: undefined,
  logs: buildRotatedLogExpressions(new Set(['query_log', 'query_log_0', 'query_log_12'])),
}
const request = QueryPatternsRequest.parse({})

it.each([
  ...queryPatternOrders.map((order) =>
    buildFingerprintListStatement({ ...request, order, search: 'x', user: 'y' }, scope),
  ),
  buildFingerprintDetailStatement('1', scope),
  buildExecutionsStatement('1', 50, scope),
  buildErrorsStatement('1', scope),
  buildLatencyStatement('1', scope),
  buildSlowestExecutionsStatement({ hash: '1', limit: 5, minMs: 10, maxMs: 20 }, scope),
  ...intervals.map((interval) =>
    buildTrendStatement('1', { ...window, interval }, { ...scope, window: { ...window, interval } }),
  ),
  buildLoggedQueryStatement('q', scope),
  ...patternChangeMeasures.map((measure) =>
    buildPatternChangesStatement(PatternChangesRequest.parse({ measure, search: 'x', user: 'y' }), scope, {
      since: 'toDateTime(1)',
      until: 'toDateTime(2)',
    }),
  ),
])(
  '$what reads the rotated logs too, only reads, and has no value of the caller in its text',
  ({ sql, parameters }) => {
    expect(() => checkReadOnly(sql)).not.toThrow()
    expect(sql).toContain(String.raw`merge('system', '^query_log(_\\d+)?$')`)
    expect(sql).not.toContain('$window')
    for (const name of Object.keys(parameters ?? {})) expect(sql).toContain(`{${name}:`)
  },
)

it('reads a running query from the process list only', () => {
  const { sql } = buildRunningQueryStatement('q')
  expect(() => checkReadOnly(sql)).not.toThrow()
  expect(sql).toContain('FROM system.processes AS log')
})

it.each([threadsSection, viewsSection, processorsSection, childQueriesSection])(
  'limits rows of $requires to the displayed number',
  (part) => {
    expect(part.limit).toBeLessThanOrEqual(1_000)
    expect(part.sql).toContain('{query_id:String}')
    expect(part.sql).not.toMatch(/\bLIMIT\b/)
  },
)

it('has histogram cells without gaps, and none is narrower than the one before', () => {
  const bounds = Array.from({ length: 20 }, (_, cell) => computeLatencyCellStartMs(cell))
  expect(bounds.slice(0, 9)).toEqual([0, 2, 2, 3, 4, 6, 8, 12, 16])
  expect(bounds).toEqual(bounds.toSorted((left, right) => left - right))
})
