import { describe, expect, it } from 'vitest'
import { parseDashboard, requireConsistent } from './check-dashboard.ts'
import { starterDashboards } from './starter/index.ts'

const panel = { id: 'a', x: 0, y: 0, w: 6, h: 6 }
const known = { charts: [{ name: 'query-count' }], tables: [{ name: 'running-queries' }] }
const check = (changes: Record<string, unknown>) => () =>
  requireConsistent(parseDashboard({ schemaVersion: 1, title: 'Shop', ...changes }), known)
const sql = (text: string, more = {}) => ({ ...panel, kind: 'sql', view: 'table', sql: text, ...more })
const variable = (name: string, text: string) => ({ kind: 'query', name, sql: text })

describe('a dashboard', () => {
  it.each([
    [
      'a newer schema version',
      { schemaVersion: 7 },
      /content\.schemaVersion is 7, but this release reads versions up to 1/,
    ],
    ['a dashboard of Grafana', { templating: { list: [] } }, /content is a dashboard of Grafana/],
    ['an unknown field', { colour: 'red' }, /content\.colour is unknown/],
    [
      'an unknown chart',
      { panels: [{ ...panel, kind: 'chart', chart: 'query-coutn' }] },
      'content.panels.0.chart has an unknown chart "query-coutn"; did you mean "query-count"?',
    ],
    [
      'an unknown table page',
      { panels: [{ ...panel, kind: 'table', table: 'running-querys' }] },
      'content.panels.0.table has an unknown table "running-querys"; did you mean "running-queries"?',
    ],
    ['an unknown kind of panel', { panels: [{ ...panel, kind: 'pie' }] }, /content\.panels\.0\.kind/],
    [
      'too many panels',
      { panels: Array.from({ length: 1_000 }, () => sql('SELECT 1')) },
      /content\.panels must have at most 100 items/,
    ],
    [
      'a long text',
      { panels: [{ ...panel, kind: 'text', markdown: 'x'.repeat(20_001) }] },
      /content\.panels\.0\.markdown must not be longer than 20000 characters/,
    ],
    [
      'a panel outside of the grid',
      { panels: [sql('SELECT 1', { x: 8 })] },
      /content\.panels\.0\.w must end at column 12; x \+ w is 14/,
    ],
    ['a repeated id', { panels: [sql('SELECT 1'), sql('SELECT 2')] }, /content\.panels\.1\.id repeats "a"/],
    [
      'an unknown host variable',
      { panels: [sql('SELECT 1', { host: '{main}' })] },
      /content\.panels\.0\.host must name a variable/,
    ],
    [
      'an unknown variable',
      { panels: [sql('SELECT {hots}')] },
      /content\.panels\.0\.sql has an unknown variable "hots"/,
    ],
    [
      'a variable with a built-in name',
      { variables: [variable('from', 'SELECT 1')] },
      /content\.variables\.0\.name must not be "from"/,
    ],
    [
      'variables with the same name',
      { variables: [variable('a', 'SELECT 1'), variable('a', 'SELECT 2')] },
      /content\.variables\.1\.name repeats "a"/,
    ],
    [
      'cyclic variables',
      { variables: [variable('a', 'SELECT {b}'), variable('b', 'SELECT {c}'), variable('c', 'SELECT {a}')] },
      /content\.variables\.0 depends on itself: a → b → c → a/,
    ],
    [
      'a variable that depends on itself',
      { variables: [variable('a', 'SELECT {a}')] },
      /content\.variables\.0 depends on itself: a → a/,
    ],
  ])('with %s is rejected with the path', (_name, changes, message) => {
    expect(check(changes)).toThrow(message)
  })

  it('can refer to its variables and to the time range', () => {
    const variables = [
      { kind: 'group', name: 'group' },
      { kind: 'host', name: 'host', group: 'group' },
      { kind: 'table', name: 'table', host: 'host' },
    ]
    const statement =
      "SELECT {table_database}, '{quoted}' -- {comment}\nWHERE t >= {from} AND t < {to:DateTime64(3)} AND {host} = ''"
    expect(check({ variables, panels: [sql(statement, { host: '{host}' })] })).not.toThrow()
  })

  it('of the product is valid', () => {
    for (const { content } of starterDashboards) requireConsistent(parseDashboard(content), undefined)
    expect(starterDashboards).toHaveLength(6)
  })
})
