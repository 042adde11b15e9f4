import type { Catalogue } from '#proto/catalogue.ts'
import type { DashboardPanel } from '#proto/dashboards.ts'

/** Names of the kinds of panels. */
const panelKindTitles: Readonly<Record<DashboardPanel['kind'], string>> = {
  chart: 'Chart',
  table: 'Table',
  sql: 'SQL',
  text: 'Text',
  slo: 'SLO',
  alerts: 'Alerts',
}

/** Returns the title of a panel: its own, else that of its definition or kind, with the host if the panel names one. */
export const getPanelTitle = (panel: DashboardPanel, catalogue: Catalogue | undefined): string => {
  if (panel.title !== '') return panel.title
  const isFixed = panel.host !== '' && !panel.host.startsWith('{')
  return getDefaultTitle(panel, catalogue) + (isFixed ? ` · ${panel.host}` : '')
}

const getDefaultTitle = (panel: DashboardPanel, catalogue: Catalogue | undefined): string => {
  if (panel.kind === 'chart') return catalogue?.charts.find(({ name }) => name === panel.chart)?.title ?? panel.chart
  if (panel.kind === 'table') return catalogue?.tables.find(({ name }) => name === panel.table)?.title ?? panel.table
  return panelKindTitles[panel.kind]
}
