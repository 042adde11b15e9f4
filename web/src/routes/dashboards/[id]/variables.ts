import type { DashboardContent, DashboardPanel, DashboardVariable } from '#proto/dashboards.ts'
import { expandTableValue, listPlaceholders } from '#proto/dashboard-sql.ts'
import { getRangeSeconds, readRange, type ReadableParameters, type TimeRange } from '#lib/state/range.ts'

/** Values of the variables by name. */
export type VariableValues = Readonly<Record<string, string>>

/** Prefix of the URL parameters with the values of variables. */
export const variablePrefix = 'var-'

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
): Record<string, string> =>
  Object.fromEntries(
    variables.map((variable) => [
      variable.name,
      parameters.get(variablePrefix + variable.name) ?? getDefaultValue(variable, pageHost),
    ]),
  )

const getDefaultValue = (variable: DashboardVariable, pageHost: string): string => {
  if (variable.default !== '') return variable.default
  if (variable.kind === 'host') return pageHost
  return variable.kind === 'list' ? (variable.options[0] ?? '') : ''
}

/** Returns the hosts that a variable offers: those of the selected group, or all. */
export const listHostOptions = (
  variable: Extract<DashboardVariable, { kind: 'host' }>,
  hosts: readonly NamedHost[],
  values: VariableValues,
): string[] => {
  const group = variable.group === undefined ? '' : (values[variable.group] ?? '')
  return hosts.filter((host) => group === '' || host.group === group).map(({ name }) => name)
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
  const name = variable === undefined ? reference : (values[variable] ?? '')
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
export const expandValues = (variables: readonly DashboardVariable[], values: VariableValues): Record<string, string> =>
  Object.assign(
    { ...values },
    ...variables.filter(({ kind }) => kind === 'table').map(({ name }) => expandTableValue(name, values[name] ?? '')),
  )

/** Replaces `{name}` by its value where a parameter consists of it alone. */
export const fillParameters = (
  parameters: Readonly<Record<string, string>>,
  values: VariableValues,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      const variable = /^\{(\w+)\}$/.exec(value)?.[1]
      return [name, variable === undefined ? value : (values[variable] ?? '')]
    }),
  )

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
export const selectValues = (sql: string, values: VariableValues): Record<string, string> =>
  Object.fromEntries(listPlaceholders(sql).flatMap((name) => (name in values ? [[name, values[name] ?? '']] : [])))
