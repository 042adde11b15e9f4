import { describe, expect, it } from 'vitest'
import { extractSettings, selectPlanSettings } from './statement-settings.ts'

describe('the SETTINGS clauses of a statement', () => {
  it.each([
    ['SELECT 1', 'SELECT 1', {}],
    ['SELECT 1 SETTINGS max_threads = 1', 'SELECT 1 ', { max_threads: '1' }],
    [
      "SELECT 1 SETTINGS join_algorithm = 'hash', max_threads=-2 FORMAT JSON",
      'SELECT 1 FORMAT JSON',
      { join_algorithm: 'hash', max_threads: '-2' },
    ],
    ['SELECT 1 SETTINGS a = true;', 'SELECT 1 ;', { a: 'true' }],
    ["SELECT 1 SETTINGS f = {'t': 'x, y'}, b = [1, 2], c = 3", 'SELECT 1 ', { f: null, b: null, c: '3' }],
    ['SELECT * FROM (SELECT 1 SETTINGS a = 1) SETTINGS b = 2', 'SELECT * FROM (SELECT 1 ) ', { a: '1', b: '2' }],
    ['SELECT 1 SETTINGS a = 1 UNION ALL SELECT 2 SETTINGS b = 2', 'SELECT 1 UNION ALL SELECT 2 ', { a: '1', b: '2' }],
    ['SELECT settings FROM t WHERE settings = 1', 'SELECT settings FROM t WHERE settings = 1', {}],
    ["SELECT ' SETTINGS a = 1'", "SELECT ' SETTINGS a = 1'", {}],
  ])('of %j are removed and returned', (query, rest, settings) => {
    const found = extractSettings(query)
    expect(found.query.replaceAll(/ {2,}/g, ' ')).toBe(rest)
    expect(found.query).toHaveLength(query.length)
    expect(Object.fromEntries(found.settings.map(({ name, value }) => [name, value]))).toEqual(settings)
  })

  it.each(['DROP TABLE t SETTINGS a = 1', 'SELECT (', '', 'SELECT 1 SETTINGS'])('leave %j to the guard', (query) => {
    expect(extractSettings(query).settings).toEqual([])
  })
})

it('applies only settings that change a plan', () => {
  const settings = [
    { name: 'join_algorithm', value: 'hash' },
    { name: 'optimize_read_in_order', value: '0' },
    { name: 'max_memory_usage', value: '0' },
    { name: 'readonly', value: '0' },
    { name: 'max_execution_time', value: '0' },
    { name: 'enable_http_compression', value: '1' },
    { name: 'allow_ddl', value: '1' },
    { name: 'log_comment', value: 'x' },
    { name: 'optimize_skip_unused_shards', value: null },
  ]
  expect(selectPlanSettings(settings)).toEqual({
    applied: { join_algorithm: 'hash', optimize_read_in_order: '0' },
    ignored: [
      'max_memory_usage',
      'readonly',
      'max_execution_time',
      'enable_http_compression',
      'allow_ddl',
      'log_comment',
      'optimize_skip_unused_shards',
    ],
  })
})
