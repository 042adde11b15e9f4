import { describe, expect, it } from 'vitest'
import { parseDashboard } from './check-dashboard.ts'
import { toGrafanaDashboard } from './grafana.ts'
import { toGrafanaStatement, toGrafanaTemplate } from './grafana-statements.ts'

describe('a statement for Grafana', () => {
  it('has macros instead of the time range, and quoted values', () => {
    const sql =
      "SELECT toUnixTimestamp64Milli(toDateTime64(`time`, 3)) AS `time`, '{kept}' FROM log WHERE t >= (now() - toIntervalHour(24)) AND t < (now() + 1) AND user = {user:String} AND {own:UInt8}"
    const text = toGrafanaStatement({
      sql,
      parameters: { user: "o'neil", own: 0 },
      lastHours: 24,
      timeColumn: 'time',
    })
    expect(text).toBe(
      "SELECT * REPLACE (fromUnixTimestamp64Milli(`time`) AS `time`)\nFROM (\nSELECT toUnixTimestamp64Milli(toDateTime64(`time`, 3)) AS `time`, '{kept}' FROM log WHERE t >= $__fromTime AND t < $__toTime AND user = 'o\\'neil' AND CAST('0' AS UInt8)\n)\nORDER BY `time`",
    )
  })

  it('has arrays for variables of several values, and parts of each table', () => {
    const variables = [
      { kind: 'user', name: 'user', multi: true, includeAll: true },
      { kind: 'table', name: 'table', multi: true },
    ] as const
    expect(toGrafanaTemplate('SELECT {user_all} OR user IN {user}', variables)).toBe(
      'SELECT false OR user IN CAST([${user:sqlstring}] AS Array(String))',
    )
    expect(toGrafanaTemplate('SELECT {table_name}', variables)).toBe(
      "SELECT CAST(arrayMap(name -> substring(name, position(name, '.') + 1), [${table:sqlstring}]) AS Array(String))",
    )
    const chosen = { user: '{user}', database: '{table_database}', kind: "it's" }
    const sql = 'SELECT {user:String}, {database:String}, {kind:String}, {client:String}'
    const parameters = { user: '', database: '', kind: '', client: '' }
    expect(toGrafanaStatement({ sql, parameters, chosen, variables, lastHours: 1, timeColumn: undefined })).toBe(
      "SELECT ${user:sqlstring}, substring(${table:sqlstring}, 1, position(${table:sqlstring}, '.') - 1), 'it\\'s', ''",
    )
  })

  it('has template variables that Grafana quotes', () => {
    expect(toGrafanaTemplate('SELECT {user}, {n:UInt8}, {from}, {interval} FROM {t:Identifier}')).toBe(
      'SELECT ${user:sqlstring}, CAST(${n:sqlstring} AS UInt8), $__fromTime, $__interval_s FROM "${t:raw}"',
    )
  })
})

describe('a dashboard for Grafana', () => {
  const content = parseDashboard({
    schemaVersion: 1,
    title: 'Shop',
    lastHours: 6,
    variables: [
      { kind: 'table', name: 'table', default: 'shop.orders' },
      { kind: 'list', name: 'size', options: ['a,b', 'c'] },
    ],
    panels: [
      { id: 'a', kind: 'chart', x: 6, y: 2, w: 6, h: 7, chart: 'query-count' },
      { id: 'b', kind: 'text', x: 0, y: 2, w: 6, h: 7, markdown: '# Hi' },
      {
        id: 'c',
        kind: 'slo',
        x: 0,
        y: 9,
        w: 3,
        h: 4,
        objective: 99,
        windowDays: 7,
        source: { kind: 'sql', sql: 'SELECT 1 AS good, 2 AS total' },
      },
      { id: 'd', kind: 'table', x: 3, y: 9, w: 3, h: 4, table: 'gone' },
    ],
  })
  const dashboard = toGrafanaDashboard(content, (panel) =>
    panel.kind === 'table'
      ? { title: 'Gone', kind: 'table', unit: 'none', sql: null }
      : { title: 'Queries', kind: 'stacked-bar', unit: 'bytes', sql: 'SELECT 1' },
  )

  it('uses the ClickHouse data source that the user selects', () => {
    expect(dashboard).toMatchObject({
      title: 'Shop',
      time: { from: 'now-6h', to: 'now' },
      __requires: expect.arrayContaining([expect.objectContaining({ id: 'grafana-clickhouse-datasource' })]),
      templating: {
        list: [
          { name: 'datasource', type: 'datasource', query: 'grafana-clickhouse-datasource' },
          { name: 'table', type: 'query', current: { value: 'shop.orders' } },
          { name: 'table_database', hide: 2 },
          { name: 'table_name', hide: 2 },
          { name: 'size', type: 'custom', query: 'a\\,b,c' },
        ],
      },
    })
  })

  it('has each panel in its place, with a statement or a text', () => {
    expect(dashboard.panels).toMatchObject([
      {
        id: 1,
        type: 'timeseries',
        title: 'Queries',
        gridPos: { x: 12, y: 2, w: 12, h: 7 },
        datasource: { type: 'grafana-clickhouse-datasource', uid: '${datasource}' },
        fieldConfig: { defaults: { unit: 'bytes' } },
        targets: [{ refId: 'A', editorType: 'sql', queryType: 'timeseries', format: 0, rawSql: 'SELECT 1' }],
      },
      { type: 'text', options: { mode: 'markdown', content: '# Hi' } },
      {
        type: 'stat',
        targets: [{ queryType: 'table', rawSql: expect.stringContaining('100 * sum(good) / sum(total)') }],
      },
      { type: 'text', options: { content: 'The host lacks the tables that “Gone” reads.' } },
    ])
  })
})

describe('variables of several values for Grafana', () => {
  const content = parseDashboard({
    schemaVersion: 1,
    title: 'Shop',
    variables: [
      { kind: 'host', name: 'host', multi: true, includeAll: true },
      { kind: 'user', name: 'user', multi: true, includeAll: true, default: 'ada' },
      { kind: 'table', name: 'table', includeAll: true },
      { kind: 'text', name: 'text' },
    ],
    panels: [
      { id: 'a', kind: 'chart', x: 0, y: 0, w: 6, h: 7, chart: 'query-count', parameters: { user: '{user}' } },
      { id: 'b', kind: 'chart', x: 6, y: 0, w: 6, h: 7, chart: 'query-count' },
    ],
  })
  const { panels, templating } = toGrafanaDashboard(
    content,
    () => ({ title: 'Queries', kind: 'line', unit: 'count', sql: 'SELECT 1' }),
    [{ name: 'one' }, { name: 'two' }],
  )

  it('can have several values and all values', () => {
    expect(templating).toMatchObject({
      list: [
        { type: 'datasource' },
        {
          name: 'host',
          type: 'custom',
          query: 'one,two',
          multi: true,
          includeAll: true,
          current: { text: ['All'], value: ['$__all'] },
        },
        { name: 'user', type: 'query', multi: true, includeAll: true, current: { text: ['ada'], value: ['ada'] } },
        { name: 'table', type: 'query', multi: false, includeAll: true },
        { name: 'text', type: 'textbox' },
      ],
    })
  })

  it('repeat the panels whose parameters have one value', () => {
    expect(panels).toMatchObject([{ repeat: 'user', repeatDirection: 'v' }, { title: 'Queries' }])
    expect(panels).not.toMatchObject([{}, { repeat: expect.anything() }])
  })
})
