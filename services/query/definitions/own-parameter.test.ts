import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { toSqlBranches } from './check.ts'
import { openDefinitions } from './definitions.ts'
import { expandPeopleMacro } from './load.ts'

/** Definitions that include Watchhouse's own statements, or that read one query by its id. */
const exemptDefinitions = new Set([
  'insert-performance',
  'own-cost',
  'query-children',
  'query-detail',
  'top-inserters',
  'traffic-distributed-queries',
  'traffic-insert-performance',
  'traffic-insert-queries',
  'traffic-inserted-bytes',
  'traffic-summary',
])
const { charts, tables } = await openDefinitions(pino({ level: 'silent' }))
const readers = [...charts, ...tables].filter(({ sql }) =>
  toSqlBranches(sql).some((branch) => branch.sql.includes('$log(query_log)')),
)
const ofPeople = readers.filter(({ name }) => !exemptDefinitions.has(name))

describe('a chart or table page about queries', () => {
  it.each(ofPeople)('$name excludes own statements by default', ({ sql, parameters }) => {
    for (const branch of toSqlBranches(sql)) {
      const reads = branch.sql.split(/\$log\(query_log\)|AS log_comment FROM system\.processes/).length - 1
      expect(branch.sql.split('({own:Bool} OR NOT $own)').length - 1).toBe(reads)
    }
    expect(parameters.filter(({ name }) => name === 'own')).toMatchObject([{ type: 'Bool', default: 0 }])
  })

  it('uses $people unless it is about load or a single query', () => {
    const others = readers.filter(({ parameters }) => !parameters.some(({ name }) => name === 'own'))
    expect(others.map(({ name }) => name).toSorted()).toEqual([...exemptDefinitions].toSorted())
  })
})

it('does not change a definition without $people', () => {
  const definition = { sql: 'SELECT 1', parameters: [] }
  expect(expandPeopleMacro(definition)).toBe(definition)
})
