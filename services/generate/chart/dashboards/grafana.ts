import { metrics, openMetrics } from '#shared/telemetry/metrics.ts'
import { alertsDashboard } from './alerts.ts'
import { fleetDashboard } from './fleet.ts'
import { healthDashboard } from './health.ts'
import type { Dashboard, Panel, DashboardVariable } from './panel.ts'

const width = 8
const height = 8
const perRow = 3
const gridColumns = width * perRow
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** Returns every dashboard as Grafana JSON, by file name without extension. */
export const generateGrafanaDashboards = async (): Promise<Record<string, object>> => {
  const helps = await readMetricHelp()
  const entries = Object.entries({ health: healthDashboard, fleet: fleetDashboard, alerts: alertsDashboard })
  return Object.fromEntries(entries.map(([name, dashboard]) => [name, dashboardOf(name, dashboard, helps)]))
}

/** Returns the help text of each metric, by metric name. */
const readMetricHelp = async (): Promise<ReadonlyMap<string, string>> => {
  const registry = openMetrics({ version: '', services: [] })
  for (const metric of Object.values(metrics)) metric(registry)
  return new Map((await registry.getMetricsAsJSON()).map(({ name, help }) => [name, help]))
}

type Helps = ReadonlyMap<string, string>

const dashboardOf = (name: string, { title, variables, sections }: Dashboard, helps: Helps): object => ({
  uid: `watchhouse-${name}`,
  title,
  tags: ['watchhouse'],
  schemaVersion: 41,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  // 1 means that all panels share the crosshair.
  graphTooltip: 1,
  links: [
    {
      type: 'dashboards',
      title: 'Watchhouse',
      tags: ['watchhouse'],
      asDropdown: true,
      keepTime: true,
      includeVars: true,
    },
  ],
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
      ...[{ name: 'namespace', metric: 'watchhouse_build_info' }, ...variables].map(variableOf),
    ],
  },
  panels: layOutPanels(sections, helps),
})

/** Returns a template variable. Its default selects all series, including those without the label. */
const variableOf = ({ name, metric }: DashboardVariable): object => {
  const query = `label_values(${metric}, ${name})`
  const all = { includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } }
  return {
    name,
    label: name,
    type: 'query',
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    ...all,
  }
}

/** Returns the rows and panels with their grid positions: a row per section, its panels from left to right. */
const layOutPanels = (sections: Dashboard['sections'], helps: Helps): object[] => {
  const laid: object[] = []
  let y = 0
  for (const { title, panels } of sections) {
    laid.push({
      id: laid.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: gridColumns, h: 1 },
    })
    y += 1
    for (const [index, panel] of panels.entries()) {
      const place = { x: (index % perRow) * width, y: y + Math.floor(index / perRow) * height, w: width, h: height }
      laid.push({ id: laid.length + 1, gridPos: place, ...panelOf(panel, helps) })
    }
    y += Math.ceil(panels.length / perRow) * height
  }
  return laid
}

const panelOf = ({ title, unit = 'short', kind = 'timeseries', queries, limits }: Panel, helps: Helps): object => ({
  type: kind,
  title,
  description: descriptionOf(queries.map(([expression]) => expression).join(' '), helps),
  datasource,
  fieldConfig: { defaults: { unit, min: 0, ...limitsOf(kind, limits) }, overrides: [] },
  options: optionsOf[kind],
  targets: queries.map(([expr, legendFormat], target) => ({
    refId: String.fromCodePoint(65 + target),
    expr,
    legendFormat,
    datasource,
  })),
})

/** Returns the thresholds of a panel in Grafana's format: lines in a time series, colors of a stat. */
const limitsOf = (kind: 'timeseries' | 'stat', limits: Panel['limits']): object => {
  const { look, act } = limits ?? {}
  const bad = act === undefined ? [] : [{ color: 'red', value: act }]
  const steps = [
    { color: 'green', value: null },
    ...(look === undefined ? [] : [{ color: 'orange', value: look }]),
    ...bad,
  ]
  const lines = kind === 'timeseries' && limits ? { custom: { thresholdsStyle: { mode: 'dashed' } } } : {}
  return { thresholds: { mode: 'absolute', steps }, ...lines }
}

const optionsOf = {
  stat: { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', textMode: 'value_and_name' },
  timeseries: {
    legend: { displayMode: 'table', placement: 'bottom', calcs: ['mean', 'max'], sortBy: 'Max', sortDesc: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
}

const descriptionOf = (expression: string, helps: Helps): string => {
  const names = new Set(
    (expression.match(/\bwatchhouse_\w+/g) ?? []).map((name) => name.replace(/_(bucket|count|sum)$/, '')),
  )
  return [...names].flatMap((name) => helps.get(name) ?? []).join(' ')
}
