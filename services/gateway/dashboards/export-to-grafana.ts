import type { CallContext } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import type { DashboardContent, DashboardPanel } from '#proto/dashboards.ts'
import type { Gateway } from '../gateway.ts'
import { toGrafanaDashboard, type CataloguePanel } from './grafana.ts'
import { toGrafanaStatement, type DefinitionStatement } from './grafana-statements.ts'

type DefinitionPanel = Extract<DashboardPanel, { kind: 'chart' | 'table' }>

const nameOf = (panel: DefinitionPanel): string => (panel.kind === 'chart' ? panel.chart : panel.table)

/** Converts a dashboard to one of Grafana, with the statements of its charts and table pages for one host. */
export const exportToGrafana = async (
  content: DashboardContent,
  hostId: number,
  gateway: Gateway,
  call: CallContext,
): Promise<{ title: string }> => {
  const { key: hostKey } = await gateway.hosts.find(hostId)
  const catalogue = await gateway.query.catalogue({}, call)
  const resolved = new Map<string, CataloguePanel>()
  // One after another, because the statements of a dashboard need no parallel work on the host.
  for (const panel of content.panels) {
    if (panel.kind !== 'chart' && panel.kind !== 'table') continue
    const found = catalogue[`${panel.kind}s`].some(({ name }) => name === nameOf(panel))
    if (!found) continue
    const statement = await gateway.query.definitionStatement({ hostKey, kind: panel.kind, name: nameOf(panel) }, call)
    resolved.set(panel.id, toCataloguePanel(panel, catalogue, statement, content.variables))
  }
  const missing = { kind: 'table', unit: 'none', sql: null } as const
  const resolve = (panel: DefinitionPanel) => resolved.get(panel.id) ?? { ...missing, title: nameOf(panel) }
  return { title: content.title, ...toGrafanaDashboard(content, resolve, await gateway.hosts.all()) }
}

const toCataloguePanel = (
  panel: DefinitionPanel,
  { charts, tables }: Catalogue,
  { sql, parameters }: Pick<DefinitionStatement, 'parameters'> & { sql: string | null },
  variables: DashboardContent['variables'],
): CataloguePanel => {
  const name = nameOf(panel)
  const chart = panel.kind === 'chart' ? charts.find((each) => each.name === name) : undefined
  const timeColumn = chart?.interval && chart.columns.find(({ role }) => role === 'time')?.name
  return {
    title: (chart ?? tables.find((each) => each.name === name))?.title ?? name,
    kind: chart?.kind ?? 'table',
    unit: chart?.columns.find(({ role }) => role === 'value')?.unit ?? 'none',
    sql:
      sql &&
      toGrafanaStatement({
        sql,
        parameters,
        chosen: panel.parameters,
        variables,
        lastHours: chart?.lastHours,
        timeColumn,
      }),
  }
}
