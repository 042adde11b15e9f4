import type { ChartDefinition, Unit } from '#proto/catalogue.ts'
import type { DashboardContent, DashboardPanel, DashboardVariable } from '#proto/dashboards.ts'
import { toGrafanaTemplate } from './grafana-statements.ts'

/** Fields that all panels of Grafana have. */
type GrafanaObject = Record<string, unknown>

/** SQL and display of a panel whose statement comes from the catalogue; null with a reason if it has none. */
export interface CataloguePanel {
  title: string
  kind: ChartDefinition['kind'] | 'table'
  unit: Unit
  sql: string | null
}

/** Returns the panel of the catalogue for a chart or table page. */
export type ResolveCataloguePanel = (kind: 'chart' | 'table', name: string) => CataloguePanel

const pluginId = 'grafana-clickhouse-datasource'
/** The plugin version whose query format is used: `rawSql` with `editorType` and `queryType`. */
const pluginVersion = '4.0.0'
const datasource = { type: pluginId, uid: '${datasource}' }
/** Grafana's dashboard schema version of its release 10. */
const grafanaSchemaVersion = 39
/** Grafana has 24 columns instead of 12. */
const columnFactor = 2

/** Converts a dashboard to one of Grafana for its ClickHouse data source, which users select by a variable. */
export const toGrafanaDashboard = (content: DashboardContent, resolve: ResolveCataloguePanel): GrafanaObject => {
  const panels = content.panels.map((panel, index) => toGrafanaPanel(panel, index + 1, resolve))
  const types = [...new Set(panels.map(({ type }) => type))].filter((type) => typeof type === 'string')
  return {
    __inputs: [],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.0.0' },
      { type: 'datasource', id: pluginId, name: 'ClickHouse', version: pluginVersion },
      ...types.map((id) => ({ type: 'panel', id, name: id, version: '' })),
    ],
    id: null,
    uid: null,
    title: content.title,
    description: content.description,
    tags: ['clickhouse', 'watchhouse'],
    editable: true,
    schemaVersion: grafanaSchemaVersion,
    version: 0,
    timezone: '',
    graphTooltip: 1,
    refresh: '1m',
    time: { from: `now-${content.lastHours}h`, to: 'now' },
    annotations: { list: [] },
    links: [],
    templating: { list: [dataSourceVariable, ...content.variables.flatMap(toGrafanaVariables)] },
    panels,
  }
}

const dataSourceVariable = {
  name: 'datasource',
  label: 'ClickHouse',
  type: 'datasource',
  query: pluginId,
  current: {},
  hide: 0,
  refresh: 1,
  options: [],
}

const toGrafanaVariables = (variable: DashboardVariable): GrafanaObject[] => {
  const { name, label } = variable
  const value = variable.kind === 'list' ? variable.default || (variable.options[0] ?? '') : variable.default
  const fields = { name, label: label || name, hide: 0, current: { text: value, value } }
  const query = (sql: string) => ({ ...fields, type: 'query', datasource, query: sql, refresh: 1, options: [] })
  if (variable.kind === 'list')
    return [
      {
        ...fields,
        type: 'custom',
        query: variable.options.map((option) => option.replaceAll(',', '\\,')).join(','),
        options: variable.options.map((option) => ({ text: option, value: option, selected: option === value })),
      },
    ]
  if (variable.kind === 'user') return [query('SELECT DISTINCT user FROM system.query_log ORDER BY user')]
  if (variable.kind === 'query') return [query(toGrafanaTemplate(variable.sql))]
  if (variable.kind !== 'table') return [{ ...fields, type: 'textbox', query: value }]
  const source = "FROM system.tables WHERE concat(database, '.', name) = ${" + name + ':sqlstring}'
  return [
    query("SELECT concat(database, '.', name) FROM system.tables ORDER BY 1"),
    { ...query(`SELECT database ${source}`), name: `${name}_database`, hide: 2 },
    { ...query(`SELECT name ${source}`), name: `${name}_name`, hide: 2 },
  ]
}

const toGrafanaPanel = (panel: DashboardPanel, id: number, resolve: ResolveCataloguePanel): GrafanaObject => {
  const place = {
    id,
    title: panel.title,
    gridPos: { x: panel.x * columnFactor, y: panel.y, w: panel.w * columnFactor, h: panel.h },
  }
  switch (panel.kind) {
    case 'chart':
    case 'table': {
      const found = resolve(panel.kind, panel.kind === 'chart' ? panel.chart : panel.table)
      const titled = { ...place, title: panel.title || found.title }
      return found.sql === null
        ? toTextPanel(titled, `The host lacks the tables that “${found.title}” reads.`)
        : toDataPanel(titled, panelTypes[found.kind], found.unit, found.sql)
    }
    case 'sql':
      return toDataPanel(place, sqlPanelTypes[panel.view], panel.unit, toGrafanaTemplate(panel.sql))
    case 'text':
      return toTextPanel(place, panel.markdown)
    case 'slo':
      return panel.source.kind === 'sql'
        ? toDataPanel(place, 'stat', 'percent', toSloStatement(panel.source.sql))
        : toTextPanel(place, `An SLO of ${panel.objective} % on the chart “${panel.source.chart}” of Watchhouse.`)
    default:
      return toTextPanel(place, 'Alerts of Watchhouse are shown by Watchhouse only.')
  }
}

const toSloStatement = (sql: string): string =>
  `SELECT if(sum(total) = 0, 100, 100 * sum(good) / sum(total)) AS good_share\nFROM (\n${toGrafanaTemplate(sql)}\n)`

const sqlPanelTypes = { time: 'timeseries', bars: 'barchart', number: 'stat', table: 'table' } as const

const panelTypes: Readonly<Record<CataloguePanel['kind'], string>> = {
  line: 'timeseries',
  area: 'timeseries',
  'stacked-area': 'timeseries',
  bar: 'timeseries',
  'stacked-bar': 'timeseries',
  'horizontal-bar': 'barchart',
  heatmap: 'timeseries',
  gauge: 'gauge',
  treemap: 'table',
  timeline: 'table',
  number: 'stat',
  list: 'table',
  table: 'table',
}

/** Units of Grafana; others are shown without one. */
const grafanaUnits: Readonly<Partial<Record<Unit, string>>> = {
  bytes: 'bytes',
  'bytes-per-second': 'binBps',
  seconds: 's',
  milliseconds: 'ms',
  microseconds: 'µs',
  percent: 'percent',
  ratio: 'percentunit',
  'per-second': 'cps',
  'rows-per-second': 'rowsps',
}

const toTextPanel = (place: GrafanaObject, text: string): GrafanaObject => ({
  ...place,
  type: 'text',
  options: { mode: 'markdown', content: text },
})

const toDataPanel = (place: GrafanaObject, type: string, unit: Unit, rawSql: string): GrafanaObject => {
  const isSeries = type === 'timeseries'
  return {
    ...place,
    type,
    datasource,
    fieldConfig: { defaults: { unit: grafanaUnits[unit] ?? 'short' }, overrides: [] },
    options: type === 'stat' || type === 'gauge' ? { reduceOptions: { calcs: ['lastNotNull'], values: false } } : {},
    targets: [
      {
        refId: 'A',
        datasource,
        editorType: 'sql',
        queryType: isSeries ? 'timeseries' : 'table',
        // The number of the format, which earlier versions of the plugin read instead of `queryType`.
        format: isSeries ? 0 : 1,
        pluginVersion,
        rawSql,
        meta: {},
      },
    ],
  }
}
