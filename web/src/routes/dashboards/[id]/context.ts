import { createContext } from 'svelte'
import type { DashboardContent } from '#proto/dashboards.ts'
import type { ChartData } from '#proto/query.ts'
import type { ChartState } from '#lib/api/chart-states.ts'
import type { NamedHost, VariableValues } from './variables.ts'

/** The data of a chart panel: its state, the error of its request, and a function that repeats it. */
export interface ChartPanelData {
  state: ChartState | undefined
  /** The compared range, and how far it is before the shown one in milliseconds. */
  before: { data: ChartData; byMs: number } | undefined
  failure: unknown
  /** Whether the shown data belongs to another time range. */
  isLoading: boolean
  retry: () => void
}

/** What the panels of a dashboard share. */
export interface DashboardContext {
  /** Id of the saved dashboard; null for one that was never saved. */
  readonly id: string | null
  /** The dashboard as it is saved; undefined for a new one. */
  readonly saved: DashboardContent | undefined
  /** The dashboard as it is shown. */
  readonly content: DashboardContent
  /** The values of the variables, with the placeholders that they provide. */
  readonly values: VariableValues
  readonly hosts: readonly NamedHost[]
  readonly mayWrite: boolean
  /** Returns the id of the host of a panel; undefined if there is no such host. */
  hostOf: (reference: string | undefined) => number | undefined
  /** Returns the values for a panel. Those of the variables by which it is repeated have one value. */
  valuesOf: (panelId: string) => VariableValues
  /** Returns the data of the chart of a panel. */
  chartOf: (panelId: string) => ChartPanelData
}

export const [getDashboard, setDashboard] = createContext<DashboardContext>()
