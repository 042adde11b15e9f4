import { isListVariable, listVariablePlaceholders } from '#proto/dashboard-sql.ts'
import type { DashboardContent, DashboardPanel, DashboardVariable } from '#proto/dashboards.ts'
import { compact, sortPlaces } from './grid-layout.ts'
import { maxPanels } from './limits.ts'
import { expandValues, listHostOptions, type NamedHost, type VariableValues } from './variables.ts'

/** Maximum number of copies of a panel. */
export const maxCopies = 12

/** The panels of a dashboard as they are shown. */
export interface ShownPanels {
  panels: DashboardPanel[]
  /** The values of the variables for each panel whose values differ from those of the dashboard. */
  scopes: ReadonlyMap<string, VariableValues>
  /** Number of copies that are not shown, because there would be too many. */
  omitted: number
}

const separator = '~'

/** Returns the id of the panel that is saved, for a copy of it. */
export const getSavedPanelId = (id: string): string => id.split(separator)[0] ?? id

interface RepeatRequest {
  content: DashboardContent
  values: VariableValues
  hosts: readonly NamedHost[]
  titleOf: (panel: DashboardPanel) => string
}

/**
 * Repeats panels for each value of the variables that can have only one value in a panel: its host, and the parameters of a
 * chart or table page. Statements and filters use all values at once. Copies are below each other.
 */
export const repeatPanels = (request: RepeatRequest): ShownPanels => {
  const { content } = request
  const scopes = new Map<string, VariableValues>()
  let omitted = 0
  const repeated = content.panels.map((panel) => {
    const found = listScopes(panel, request)
    omitted += Math.max(0, found.length - maxCopies)
    return { panel, copies: found.slice(0, maxCopies) }
  })
  if (repeated.every(({ copies }) => copies.length === 0)) return { panels: content.panels, scopes, omitted }
  // Copies need rows below their panel, by which all panels there move down.
  const extra = new Map<number, number>()
  for (const { panel, copies } of repeated) {
    const end = panel.y + panel.h
    if (copies.length > 1) extra.set(end, Math.max(extra.get(end) ?? 0, (copies.length - 1) * panel.h))
  }
  const shiftOf = (y: number) => [...extra].reduce((sum, [from, rows]) => sum + (from <= y ? rows : 0), 0)
  const panels = repeated.flatMap(({ panel, copies }) => {
    const y = panel.y + shiftOf(panel.y)
    if (copies.length === 0) return [{ ...panel, y }]
    return copies.map(({ values, chosen, host }, index) => {
      const id = `${panel.id}${separator}${index + 1}`
      scopes.set(id, values)
      const title = [request.titleOf({ ...panel, host: '' }), ...chosen].join(' · ')
      return { ...panel, id, y: y + index * panel.h, title, host: host ?? panel.host }
    })
  })
  const shown = sortPlaces(panels).slice(0, maxPanels)
  return { panels: compact(shown), scopes, omitted: omitted + panels.length - shown.length }
}

interface Scope {
  values: VariableValues
  /** The values that distinguish the copy. */
  chosen: string[]
  host: string | undefined
}

/** Returns the values of each copy of a panel; none if it is not repeated. */
const listScopes = (panel: DashboardPanel, { content, values, hosts }: RepeatRequest): Scope[] => {
  const hostVariable = /^\{(.*)\}$/.exec(panel.host)?.[1]
  const variables = content.variables.filter(
    (variable) => isListVariable(variable) && (variable.name === hostVariable || isParameter(panel, variable)),
  )
  let scopes: Scope[] = [{ values, chosen: [], host: undefined }]
  for (const variable of variables) {
    const chosen = listChosen(variable, hosts, values)
    // All values of a parameter are its empty value, so that one panel shows them.
    if (chosen.length === 0) continue
    const isHost = variable.name === hostVariable
    scopes = scopes.flatMap((scope) =>
      chosen.map((value) => ({
        values: { ...scope.values, [variable.name]: [value] },
        chosen: chosen.length > 1 ? [...scope.chosen, value] : scope.chosen,
        host: isHost ? value : scope.host,
      })),
    )
  }
  const isUnchanged = scopes.every(({ host, chosen }) => host === undefined && chosen.length === 0)
  return isUnchanged ? [] : scopes.map((scope) => ({ ...scope, values: expandValues(content.variables, scope.values) }))
}

/** Returns whether a parameter of a chart or table page is the value of a variable. */
const isParameter = (panel: DashboardPanel, variable: DashboardVariable): boolean => {
  if (panel.kind !== 'chart' && panel.kind !== 'table') return false
  const names = new Set(Object.keys(listVariablePlaceholders(variable)).map((name) => `{${name}}`))
  return Object.values(panel.parameters).some((value) => names.has(value))
}

const listChosen = (
  variable: DashboardVariable,
  hosts: readonly NamedHost[],
  values: VariableValues,
): readonly string[] => {
  const chosen = [values[variable.name] ?? []].flat()
  return chosen.length === 0 && variable.kind === 'host' ? listHostOptions(variable, hosts, values) : chosen
}
