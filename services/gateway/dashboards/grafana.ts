import type { ChartDefinition, Unit } from '#proto/catalogue.ts'
import type { DashboardContent, DashboardPanel, DashboardVariable } from '#proto/dashboards.ts'
import { isListVariable } from '#proto/dashboard-sql.ts'
import { findRepeatedVariable, toGrafanaTemplate } from './grafana-statements.ts'

/** Fields that all panels of Grafana have. */
type GrafanaObject = Record<string, unknown>

/** SQL and display of a panel whose statement comes from the catalogue; null with a reason if it has none. */
export interface CataloguePanel {
  title: string
  kind: ChartDefinition['kind'] | 'table'
  unit: Unit
  sql: string | null
}

/** Returns the chart or table page of a panel. */
export type ResolveCataloguePanel = (panel: Extract<DashboardPanel, { kind: 'chart' | 'table' }>) => CataloguePanel

/** A host as an option of a variable. */
export interface OfferedHost {
  name: string
  group?: string | null | undefined
}

const pluginId = 'grafana-clickhouse-datasource'
/** The plugin version whose query format is used: `rawSql` with `editorType` and `queryType`. */
const pluginVersion = '4.0.0'
const datasource = { type: pluginId, uid: '${datasource}' }
/** Grafana's dashboard schema version of its release 10. */
const grafanaSchemaVersion = 39
/** Grafana has 24 columns instead of 12. */
const columnFactor = 2

/** Converts a dashboard to one of Grafana for its ClickHouse data source, which users select by a variable. */
export const toGrafanaDashboard = (
  content: DashboardContent,
  resolve: ResolveCataloguePanel,
  hosts: readonly OfferedHost[] = [],
): GrafanaObject => {
  const panels = content.panels.map((panel, index) => toGrafanaPanel(panel, index + 1, content.variables, resolve))
  const types = [...new Set(panels.map(({ type }) => type))].filter((type) => typeof type === 'string')
  return {
    __inputs: [],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.0.0' },
      { type: 'datasource', id: pluginId, name: 'ClickHouse', version: pluginVersion },
      ...types.map((id) => ({ type: 'panel', id, name: id, version: '' })),
    ],
    id: null,
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
    templating: {
      list: [
        dataSourceVariable,
        ...content.variables.flatMap((each) => toGrafanaVariables(each, content.variables, hosts)),
      ],
    },
    panels,
  }
}

const dataSourceVariable = {
  name: 'datasource',
  label: 'ClickHouse',
  type: 'datasource',
  query: pluginId,
  // Without a value, Grafana selects its default data source of this type.
  current: { selected: false, text: '', value: '' },
  hide: 0,
  refresh: 1,
  options: [],
}

/** The value of a variable of Grafana that stands for all of its options. */
const allValue = '$__all'

const toGrafanaVariables = (
  variable: DashboardVariable,
  variables: readonly DashboardVariable[],
  hosts: readonly OfferedHost[],
): GrafanaObject[] => {
  const { name, label } = variable
  const offered = listOptions(variable, hosts)
  const isList = isListVariable(variable)
  const value = variable.default || (isList && offersAll(variable) ? allValue : (offered?.[0] ?? ''))
  const text = value === allValue ? 'All' : value
  const fields = {
    name,
    label: label || name,
    hide: 0,
    skipUrlSync: false,
    current: isList ? { selected: true, text: [text], value: [value] } : { selected: true, text, value },
  }
  const choice = { ...fields, multi: isList && 'multi' in variable && variable.multi, includeAll: offersAll(variable) }
  const query = (sql: string) => ({
    ...choice,
    type: 'query',
    datasource,
    query: sql,
    refresh: 1,
    sort: 0,
    options: [],
  })
  if (offered !== undefined)
    return [
      {
        ...choice,
        type: 'custom',
        query: offered.map((option) => option.replaceAll(',', '\\,')).join(','),
        options: offered.map((option) => ({ text: option, value: option, selected: option === value })),
      },
    ]
  if (variable.kind === 'user') return [query('SELECT DISTINCT user FROM system.query_log ORDER BY user')]
  if (variable.kind === 'query') return [query(toGrafanaTemplate(variable.sql, variables))]
  if (variable.kind !== 'table') return [{ ...fields, type: 'textbox', query: value, options: [] }]
  const tables = query("SELECT concat(database, '.', name) FROM system.tables ORDER BY 1")
  if (isList) return [tables]
  const source = "FROM system.tables WHERE concat(database, '.', name) = ${" + name + ':sqlstring}'
  return [
    tables,
    { ...query(`SELECT database ${source}`), name: `${name}_database`, hide: 2 },
    { ...query(`SELECT name ${source}`), name: `${name}_name`, hide: 2 },
  ]
}

const offersAll = (variable: DashboardVariable): boolean => 'includeAll' in variable && variable.includeAll

/** Returns the options that are part of the document; undefined if Grafana queries them or the user types a text. */
const listOptions = (variable: DashboardVariable, hosts: readonly OfferedHost[]): string[] | undefined => {
  if (variable.kind === 'list') return variable.options
  const named = variable.kind === 'host' ? hosts.map(({ name }) => name) : hosts.flatMap(({ group }) => group ?? [])
  const isOffered = (variable.kind === 'host' || variable.kind === 'group') && named.length > 0
  return isOffered ? [...new Set(named)] : undefined
}

const toGrafanaPanel = (
  panel: DashboardPanel,
  id: number,
  variables: readonly DashboardVariable[],
  resolve: ResolveCataloguePanel,
): GrafanaObject => {
  const place = {
    id,
    title: panel.title,
    gridPos: { x: panel.x * columnFactor, y: panel.y, w: panel.w * columnFactor, h: panel.h },
  }
  switch (panel.kind) {
    case 'chart':
    case 'table': {
      const found = resolve(panel)
      const repeat = findRepeatedVariable(panel.parameters, variables)
      const titled = { ...place, title: panel.title || found.title, ...(repeat && { repeat, repeatDirection: 'v' }) }
      return found.sql === null
        ? toTextPanel(titled, `The host lacks the tables that “${found.title}” reads.`)
        : toDataPanel(titled, panelTypes[found.kind], found.unit, found.sql)
    }
    case 'sql':
      return toDataPanel(place, sqlPanelTypes[panel.view], panel.unit, toGrafanaTemplate(panel.sql, variables))
    case 'text':
      return toTextPanel(place, panel.markdown)
    case 'slo':
      return panel.source.kind === 'sql'
        ? toDataPanel(place, 'stat', 'percent', toSloStatement(panel.source.sql, variables))
        : toTextPanel(place, `An SLO of ${panel.objective} % on the chart “${panel.source.chart}” of Watchhouse.`)
    default:
      return toTextPanel(place, 'Alerts of Watchhouse are shown by Watchhouse only.')
  }
}

const toSloStatement = (sql: string, variables: readonly DashboardVariable[]): string =>
  `SELECT if(sum(total) = 0, 100, 100 * sum(good) / sum(total)) AS good_share\nFROM (\n${toGrafanaTemplate(sql, variables)}\n)`

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
