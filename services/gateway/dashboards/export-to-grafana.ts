import type { CallContext } from '#proto/call.ts'
import type { DashboardContent } from '#proto/dashboards.ts'
import type { Gateway } from '../gateway.ts'
import { toGrafanaDashboard, type CataloguePanel } from './grafana.ts'
import { toGrafanaStatement } from './grafana-statements.ts'

/** Converts a dashboard to one of Grafana, with the statements of its charts and table pages for one host. */
export const exportToGrafana = async (
  content: DashboardContent,
  hostId: number,
  gateway: Gateway,
  call: CallContext,
): Promise<{ title: string }> => {
  const { key: hostKey } = await gateway.hosts.find(hostId)
  const { charts, tables } = await gateway.query.catalogue({}, call)
  const panels = new Map<string, CataloguePanel>()
  const add = async (kind: 'chart' | 'table', name: string): Promise<void> => {
    const chart = kind === 'chart' ? charts.find((each) => each.name === name) : undefined
    const definition = chart ?? tables.find((each) => each.name === name)
    if (panels.has(`${kind} ${name}`) || definition === undefined) return
    const { sql, parameters } = await gateway.query.definitionStatement({ hostKey, kind, name }, call)
    const isSeries = chart?.interval !== undefined
    const timeColumn = isSeries ? chart?.columns.find(({ role }) => role === 'time')?.name : undefined
    panels.set(`${kind} ${name}`, {
      title: definition.title,
      kind: chart?.kind ?? 'table',
      unit: chart?.columns.find(({ role }) => role === 'value')?.unit ?? 'none',
      sql: sql && toGrafanaStatement({ sql, parameters, lastHours: chart?.lastHours, timeColumn }),
    })
  }
  // One after another, because the statements of a dashboard need no parallel work on the host.
  for (const panel of content.panels) {
    if (panel.kind === 'chart') await add('chart', panel.chart)
    if (panel.kind === 'table') await add('table', panel.table)
  }
  return {
    title: content.title,
    ...toGrafanaDashboard(
      content,
      (kind, name) => panels.get(`${kind} ${name}`) ?? { title: name, kind: 'table', unit: 'none', sql: null },
    ),
  }
}
