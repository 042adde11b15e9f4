import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { ChartPart } from '#proto/agent-parts.ts'
import { validateDataPart } from './validate-data-part.ts'

const chart: ChartPart = {
  title: 'Secret title',
  kind: 'bar',
  hostKey: 'logs',
  sql: 'SELECT secret',
  columns: [
    { name: 'user', type: 'String' },
    { name: 'queries', type: 'UInt64' },
  ],
  rows: [['ada', '3']],
  x: 'user',
  y: ['queries'],
  unit: null,
}

const guarded = (data: unknown, env: Record<string, string> = {}, type: 'data-chart' | 'data-x' = 'data-chart') => {
  const logged: string[] = []
  const log = pino({}, { write: (line: string) => void logged.push(line) })
  return { part: validateDataPart({ env, log }, { type, id: 'c1', data }), logged }
}

const bad: [why: string, data: unknown, problem: string][] = [
  ['no chart', 'text', ''],
  ['of an unknown kind', { ...chart, kind: 'sankey' }, 'kind'],
  ['without columns', { ...chart, columns: [] }, 'columns'],
  ['too large', { ...chart, rows: Array.from({ length: 1_001 }, () => ['a', '1']) }, 'rows'],
  ['with a text that is too long', { ...chart, rows: [['a', 'x'.repeat(600_000)]] }, 'rows'],
  ['with an unknown column as axis', { ...chart, x: 'host' }, 'x'],
  ['with unknown value columns', { ...chart, y: ['queries', 'bytes'] }, 'y'],
]

describe('a data part of an answer', () => {
  it('passes if it is a valid chart or no chart', () => {
    expect(guarded(chart).part).toEqual({ type: 'data-chart', id: 'c1', data: chart })
    expect(guarded({ ...chart, x: null }).part).toBeDefined()
    expect(guarded('anything', {}, 'data-x').part).toEqual({ type: 'data-x', id: 'c1', data: 'anything' })
  })

  it.each(bad)('is dropped without a log line if it is a chart %s', (_, data) => {
    expect(guarded(data)).toEqual({ part: undefined, logged: [] })
  })

  it.each(bad)('is reported to the operator on request: %s', (_, data, problem) => {
    const { part, logged } = guarded(data, { AGENT_JSON_RENDER_PATCH_GUARD_DEBUG: '1' })
    expect(part).toBeUndefined()
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ id: 'c1', problems: [problem] }])
    expect(logged.join()).not.toMatch(/secret/i)
  })

  it.each([
    [{ AGENT_JSON_RENDER_PATCH_GUARD_DEBUG: '1', NODE_ENV: 'production' }],
    [{ AGENT_JSON_RENDER_PATCH_GUARD_DEBUG: 'true' }],
    [{ AGENT_JSON_RENDER_PATCH_GUARD_DEBUG: '' }],
  ])('is dropped without a log line with %j', (env) => {
    expect(guarded('text', env).logged).toEqual([])
  })
})
