import type { DashboardPanel } from '#proto/dashboards.ts'
import type { ChartStates } from '#lib/api/chart-states.ts'
import { maxGroupCharts } from './limits.ts'
import { fillParameters, type VariableValues } from './variables.ts'

/** Charts of one host with the same parameters, which one request fetches. */
export interface ChartGroup {
  /** Stays the same when charts are added, so that the data of the others stays visible. */
  key: string
  host: number
  params: Record<string, string>
  names: readonly string[]
  /** Ids of the panels. */
  panels: readonly string[]
}

/** The charts of a group as they were received last. */
export interface ChartGroupResult {
  states: ChartStates
  /** The charts of the compared range, and how far it is before the shown one in milliseconds. */
  before: ChartStates | undefined
  beforeMs: number
  failure: unknown
  /** Whether the charts belong to another time range, and the requested ones are loading. */
  isLoading: boolean
  retry: () => void
}

interface GroupRequest {
  panels: readonly DashboardPanel[]
  valuesOf: (panelId: string) => VariableValues
  hostOf: (reference: string | undefined) => number | undefined
}

/** Groups the charts of a dashboard, so that as few requests as possible fetch them. */
export const groupCharts = ({ panels, valuesOf, hostOf }: GroupRequest): ChartGroup[] => {
  const groups = new Map<string, { host: number; params: Record<string, string>; names: string[]; panels: string[] }>()
  for (const panel of panels) {
    const host = panel.kind === 'chart' ? hostOf(panel.host) : undefined
    if (panel.kind !== 'chart' || host === undefined) continue
    const params = fillParameters(panel.parameters, valuesOf(panel.id))
    const subject = JSON.stringify([host, params])
    let part = 0
    const isFull = (names: readonly string[]) => names.length >= maxGroupCharts && !names.includes(panel.chart)
    while (isFull(groups.get(`${subject} ${part}`)?.names ?? [])) part += 1
    const key = `${subject} ${part}`
    const group = groups.get(key) ?? { host, params, names: [], panels: [] }
    groups.set(key, group)
    group.panels.push(panel.id)
    if (!group.names.includes(panel.chart)) group.names.push(panel.chart)
  }
  return [...groups].map(([key, group]) => ({ key, ...group }))
}
