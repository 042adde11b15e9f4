import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { toSqlBranches } from './check.ts'
import { openDefinitions } from './definitions.ts'
import { expandPeopleMacro } from './load.ts'

/** Definitions that include Watchhouse's own statements, or that read one query by its id. */
const exemptDefinitions = new Set([
  'insert-performance',
  'health-memory-percent-detail',
  'own-cost',
  'query-children',
  'query-detail',
  'query-metric-log-memory',
  'top-inserters',
  'traffic-distributed-queries',
  'traffic-insert-performance',
  'traffic-insert-queries',
  'traffic-inserted-bytes',
  'traffic-summary',
])
const { charts, tables } = await openDefinitions(pino({ level: 'silent' }))
/** The sources whose rows belong to statements: the query log, running queries, and logs with a query id. */
const statementSources =
  /\$log\((?:query_log|query_thread_log|processors_profile_log|query_metric_log)\)|\$running\b|FROM system\.processes\b/g
const ownConditions = /\(\{own:Bool\} OR NOT (?:\$own|\$ownprocess|startsWith\(\w+, 'watchhouse-'\))\)/g
const countMatches = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length

const readers = [...charts, ...tables].filter(({ sql }) =>
  toSqlBranches(sql).some((branch) => countMatches(branch.sql, statementSources) > 0),
)
const ofPeople = readers.filter(({ name }) => !exemptDefinitions.has(name))

describe('a chart or table page about queries', () => {
  it.each(ofPeople)('$name excludes own statements by default', ({ sql, parameters }) => {
    for (const branch of toSqlBranches(sql))
      expect(countMatches(branch.sql, ownConditions)).toBe(countMatches(branch.sql, statementSources))
    expect(parameters.filter(({ name }) => name === 'own')).toMatchObject([{ type: 'Bool', default: 0 }])
  })

  it('uses $people unless it is about load or a single query', () => {
    const others = readers.filter(({ parameters }) => !parameters.some(({ name }) => name === 'own'))
    expect(others.map(({ name }) => name).toSorted()).toEqual([...exemptDefinitions].toSorted())
  })
})

it.each([
  ['$people', '$own'],
  ['$people(process)', '$ownprocess'],
  ['$people(query_id)', "startsWith(query_id, 'watchhouse-')"],
  ['$people(log.query_id)', "startsWith(log.query_id, 'watchhouse-')"],
])('expands %s to the condition %s', (macro, condition) => {
  const { sql, parameters } = expandPeopleMacro({ sql: `SELECT 1 WHERE ${macro} AND 1`, parameters: [] })
  expect(sql).toBe(`SELECT 1 WHERE ({own:Bool} OR NOT ${condition}) AND 1`)
  expect(parameters.map(({ name }) => name)).toEqual(['own'])
})

it('does not change a definition without $people', () => {
  const definition = { sql: 'SELECT 1', parameters: [] }
  expect(expandPeopleMacro(definition)).toBe(definition)
})
