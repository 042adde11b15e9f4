import type { DashboardContent, DashboardPanel, DashboardVariable } from '#proto/dashboards.ts'
import {
  expandVariable,
  isListVariable,
  listPlaceholders,
  type PlaceholderValue,
  type PlaceholderValues,
} from '#proto/dashboard-sql.ts'
import { getRangeSeconds, readRange, type ReadableParameters, type TimeRange } from '#lib/state/range.ts'

/** Values of the variables by name. An empty list stands for all values. */
export type VariableValues = PlaceholderValues

/** Prefix of the URL parameters with the values of variables. */
export const variablePrefix = 'var-'
/** The value of a URL parameter that stands for all values, as in Grafana. */
const allValues = '$__all'
/** Maximum number of values of a variable. */
const maxValues = 100

/** A host as panels refer to it. */
export interface NamedHost {
  id: number
  name: string
  group: string | null
}

/** Returns the values in the URL, else the defaults. A host without a default is the host of the page. */
export const readVariableValues = (
  variables: readonly DashboardVariable[],
  parameters: ReadableParameters,
  pageHost: string,
): Record<string, PlaceholderValue> =>
  Object.fromEntries(
    variables.map((variable) => {
      const given = [...new Set(parameters.getAll(variablePrefix + variable.name))].slice(0, maxValues)
      return [variable.name, readValue(variable, given) ?? getDefaultValue(variable, pageHost)]
    }),
  )

const readValue = (variable: DashboardVariable, given: readonly string[]): PlaceholderValue | undefined => {
  if (!isListVariable(variable)) return given[0]
  if (given.includes(allValues)) return offersAll(variable) ? [] : undefined
  if (given.length === 0) return undefined
  return hasSeveral(variable) ? given : given.slice(0, 1)
}

/** Returns whether a variable offers all values at once. */
export const offersAll = (variable: DashboardVariable): boolean => variable.kind !== 'text' && variable.includeAll

/** Returns whether several values of a variable can be selected. */
export const hasSeveral = (variable: DashboardVariable): boolean => variable.kind !== 'text' && variable.multi

const getDefaultValue = (variable: DashboardVariable, pageHost: string): PlaceholderValue => {
  const isList = isListVariable(variable)
  if (variable.default === '' && isList && offersAll(variable)) return []
  const single = getDefaultText(variable, pageHost)
  return isList ? [single] : single
}

const getDefaultText = (variable: DashboardVariable, pageHost: string): string => {
  if (variable.default !== '') return variable.default
  if (variable.kind === 'host') return pageHost
  return variable.kind === 'list' ? (variable.options[0] ?? '') : ''
}

/** Returns the values of a URL parameter for the value of a variable. */
export const writeVariableValue = (value: PlaceholderValue): string[] =>
  typeof value === 'string' ? [value] : value.length === 0 ? [allValues] : [...value]

/** Returns one value: the first of a list, and an empty text for all values. */
export const toSingleValue = (value: PlaceholderValue | undefined): string =>
  (typeof value === 'string' ? value : value?.[0]) ?? ''

/** Returns the hosts that a variable offers: those of the selected groups, or all. */
export const listHostOptions = (
  variable: Extract<DashboardVariable, { kind: 'host' }>,
  hosts: readonly NamedHost[],
  values: VariableValues,
): string[] => {
  const groups = [variable.group === undefined ? [] : (values[variable.group] ?? [])]
    .flat()
    .filter((group) => group !== '')
  return hosts.filter(({ group }) => groups.length === 0 || groups.includes(group ?? '')).map(({ name }) => name)
}

/** Returns the host of a panel or variable: a named one, that of a variable, or the host of the page. */
export const resolveHost = (
  reference: string | undefined,
  values: VariableValues,
  hosts: readonly NamedHost[],
  pageHost: number,
): number | undefined => {
  if (reference === undefined || reference === '') return pageHost
  const variable = /^\{(.*)\}$/.exec(reference)?.[1]
  const name = variable === undefined ? reference : toSingleValue(values[variable])
  return name === '' ? pageHost : hosts.find((host) => host.name === name)?.id
}

/** Returns the value of the URL parameter `range` for the last hours. */
export const writeLastHours = (hours: number): string =>
  hours > 24 && hours % 24 === 0 ? `${hours / 24}d` : `${hours}h`

/** Returns the range of the last hours. */
export const createLastHours = (hours: number): TimeRange | undefined =>
  readRange(new URLSearchParams({ range: writeLastHours(hours) })) ?? undefined

/** Bucket lengths in seconds for `{interval}`. */
const bucketSeconds = [1, 5, 10, 30, 60, 300, 600, 900, 1_800, 3_600, 10_800, 43_200, 86_400]
/** The number of buckets that a chart of a panel can show. */
const maxBuckets = 240

/** Returns the values of `{from}`, `{to}` and `{interval}` for a time range, in epoch seconds and seconds. */
export const toTimeValues = (range: TimeRange, nowMs: number): Record<'from' | 'to' | 'interval', string> => {
  const length = getRangeSeconds(range)
  const to = range.kind === 'between' ? range.to : Math.floor(nowMs / 1000) + 1
  const interval = bucketSeconds.find((seconds) => length / seconds <= maxBuckets) ?? bucketSeconds.at(-1)
  return { from: String(to - length), to: String(to), interval: String(interval) }
}

/** Returns the values that placeholders can use, with the parts of table names. */
export const expandValues = (
  variables: readonly DashboardVariable[],
  values: VariableValues,
): Record<string, PlaceholderValue> =>
  Object.assign({}, ...variables.map((variable) => expandVariable(variable, values[variable.name] ?? '')))

/** Replaces `{name}` by its value where a parameter consists of it alone. */
export const fillParameters = (
  parameters: Readonly<Record<string, string>>,
  values: VariableValues,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      const variable = /^\{(\w+)\}$/.exec(value)?.[1]
      return [name, variable === undefined ? value : toSingleValue(values[variable])]
    }),
  )

/** Operators of filters for several values, by the operator for one value. */
const listOperators: Readonly<Record<string, string>> = { eq: 'in', ne: 'notIn' }

/** Fills filters such as `user.eq.{user}`. A filter on an empty variable, or on all values, is left out. */
export const fillFilters = (filters: readonly string[], values: VariableValues): string[] =>
  filters.flatMap((filter) => {
    const [, column = '', operator = '', variable] = /^(.+)\.(\w+)\.\{(\w+)\}$/.exec(filter) ?? []
    if (variable === undefined) return [filter]
    const value = values[variable] ?? ''
    if (typeof value === 'string') return value === '' ? [] : [`${column}.${operator}.${value}`]
    const chosen = value.filter((each) => each !== '')
    if (chosen.length === 0) return []
    // A comma separates values; one within a value is escaped.
    const list = chosen.map((each) => each.replaceAll(',', '\\,')).join(',')
    return [`${column}.${listOperators[operator] ?? operator}.${list}`]
  })

/** Returns the statement of a panel; undefined if it has none. */
export const getPanelStatement = (panel: DashboardPanel): string | undefined => {
  if (panel.kind === 'sql') return panel.sql
  return panel.kind === 'slo' && panel.source.kind === 'sql' ? panel.source.sql : undefined
}

/** Returns whether the saved dashboard contains the same statement for a panel, so that readers may run it. */
export const isStatementSaved = (saved: DashboardContent | undefined, id: string, sql: string): boolean => {
  const panel = saved?.panels.find((each) => each.id === id)
  return panel !== undefined && getPanelStatement(panel) === sql
}

/** Returns the values that a statement uses, so that changes of other variables do not run it again. */
export const selectValues = (sql: string, values: VariableValues): Record<string, string | string[]> =>
  Object.fromEntries(
    listPlaceholders(sql).flatMap((name) => {
      const value = values[name]
      return value === undefined ? [] : [[name, typeof value === 'string' ? value : [...value]]]
    }),
  )
