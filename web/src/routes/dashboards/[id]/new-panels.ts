import type { ChartInfo, TableInfo } from '#proto/catalogue.ts'
import type { NewPanel } from './editor.ts'

const fields = { title: '', host: '' }

/** The condition on the time range that statements about the query log share. */
const inRange = 'event_date >= toDate({from}) AND event_time >= {from} AND event_time < {to}'

/** Statements that measure common objectives. The texts can be edited. */
export const sloStatements = {
  successful: `SELECT countIf(type = 'QueryFinish') AS good, count() AS total
FROM system.query_log
WHERE ${inRange}
  AND type != 'QueryStart' AND is_initial_query`,
  fast: (milliseconds: number) => `SELECT countIf(query_duration_ms <= ${milliseconds}) AS good, count() AS total
FROM system.query_log
WHERE ${inRange}
  AND type != 'QueryStart' AND is_initial_query`,
}

const exampleStatement = `SELECT toStartOfInterval(event_time, toIntervalSecond({interval})) AS time, count() AS queries
FROM system.query_log
WHERE ${inRange}
  AND type = 'QueryFinish'
GROUP BY time
ORDER BY time`

/** Panels without a definition of the catalogue. */
export const plainPanels: readonly { label: string; doc: string; panel: NewPanel }[] = [
  {
    label: 'SQL',
    doc: 'The result of your own read-only statement',
    panel: { ...fields, kind: 'sql', w: 6, h: 7, sql: exampleStatement, view: 'time', unit: 'count' },
  },
  {
    label: 'SLO',
    doc: 'An objective with its error budget',
    panel: {
      ...fields,
      kind: 'slo',
      title: 'Successful queries',
      w: 3,
      h: 5,
      objective: 99.9,
      windowDays: 7,
      source: { kind: 'sql', sql: sloStatements.successful },
    },
  },
  {
    label: 'Alerts',
    doc: 'Conditions that are firing',
    panel: { ...fields, kind: 'alerts', w: 6, h: 7, scope: 'all', severity: 'any', limit: 10 },
  },
  {
    label: 'Text',
    doc: 'Notes and links in Markdown',
    panel: { ...fields, kind: 'text', w: 6, h: 4, markdown: '# Notes\n\nWrite Markdown here.' },
  },
]

const numberKinds: ReadonlySet<ChartInfo['kind']> = new Set(['number', 'gauge'])

/** Returns a panel for a chart of the catalogue. */
export const createChartPanel = ({ name, kind }: ChartInfo): NewPanel => {
  const size = numberKinds.has(kind) ? { w: 3, h: 4 } : { w: 6, h: 7 }
  return { ...fields, ...size, kind: 'chart', chart: name, parameters: {} }
}

/** Returns a panel for a table page of the catalogue. */
export const createTablePanel = ({ name }: TableInfo): NewPanel => ({
  ...fields,
  kind: 'table',
  table: name,
  w: 12,
  h: 9,
  parameters: {},
  search: '',
  filters: [],
  sort: '',
  limit: 20,
})
