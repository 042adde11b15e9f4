import { z } from 'zod'
import {
  builtInVariables,
  findUncheckedLists,
  isListVariable,
  listPlaceholders,
  listVariablePlaceholders,
} from '#proto/dashboard-sql.ts'
import {
  DashboardContent,
  dashboardSchemaVersion,
  gridColumns,
  type DashboardPanel,
  type DashboardVariable,
} from '#proto/dashboards.ts'
import { ServiceError } from '#proto/errors.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { parseRequestInput } from '../request/parse.ts'

/** A problem of a dashboard: a path such as `panels.3.chart`, and a message that follows it. */
export interface DashboardProblem {
  path: string
  message: string
}

/** Names of the definitions to which panels can refer. */
export interface KnownDefinitions {
  charts: readonly { name: string }[]
  tables: readonly { name: string }[]
}

const maxProblems = 20

const ImportedDashboard = z.object({ content: DashboardContent })

/**
 * Parses a dashboard of any origin. Throws `invalid` with all problems and their paths; a newer schema version and a
 * dashboard of Grafana are reported as such.
 */
export const parseDashboard = (content: Readonly<Record<string, unknown>>): DashboardContent => {
  const { schemaVersion } = content
  const isNewer = typeof schemaVersion === 'number' && schemaVersion > dashboardSchemaVersion
  if ('__inputs' in content || 'templating' in content)
    throw createInvalidError([
      { path: '', message: 'is a dashboard of Grafana; only dashboards exported by Watchhouse can be imported' },
    ])
  if (isNewer)
    throw createInvalidError([
      {
        path: 'schemaVersion',
        message: `is ${schemaVersion}, but this release reads versions up to ${dashboardSchemaVersion}; update Watchhouse`,
      },
    ])
  return parseRequestInput(ImportedDashboard, { content }).content
}

/** Throws `invalid` if parts of a dashboard contradict each other or, given a catalogue, refer to unknown definitions. */
export const requireConsistent = (content: DashboardContent, known: KnownDefinitions | undefined): void => {
  const problems = [...findVariableProblems(content), ...content.panels.flatMap(createPanelCheck(content, known))]
  if (problems.length > 0) throw createInvalidError(problems)
}

const createInvalidError = (problems: readonly DashboardProblem[]): ServiceError => {
  const listed = problems.slice(0, maxProblems).map(({ path, message }) => ({
    // Paths start in the body of the request, as those of other invalid fields.
    parameter: path === '' ? 'content' : `content.${path}`,
    message,
  }))
  const sentences = listed.map(({ parameter, message }) => `${parameter} ${message}`)
  if (listed.length < problems.length) sentences.push('further problems omitted')
  return new ServiceError('invalid', sentences.join('; '), {
    details: { parameter: listed[0]?.parameter, problems: listed },
  })
}

const findVariableProblems = ({ variables }: DashboardContent): DashboardProblem[] => {
  const problems: DashboardProblem[] = []
  for (const [index, variable] of variables.entries()) {
    const path = `variables.${index}`
    const { name } = variable
    if (Object.hasOwn(builtInVariables, name))
      problems.push({ path: `${path}.name`, message: `must not be "${name}", which every dashboard has` })
    if (variables.findIndex((each) => each.name === name) !== index)
      problems.push({ path: `${path}.name`, message: `repeats "${name}"; names must be unique` })
    const clash = Object.keys(listVariablePlaceholders(variable)).find(
      (own) => own !== name && variables.some((other) => other.name === own),
    )
    if (clash !== undefined)
      problems.push({
        path: `${path}.name`,
        message: `also provides "${clash}", which is another variable; rename one`,
      })
    problems.push(...findReferenceProblems(variable, variables, path))
    const cycle = findCycle(name, variables)
    if (cycle) problems.push({ path, message: `depends on itself: ${cycle.join(' → ')}` })
  }
  return problems
}

const findReferenceProblems = (
  variable: DashboardVariable,
  variables: readonly DashboardVariable[],
  path: string,
): DashboardProblem[] => {
  const problems: DashboardProblem[] = []
  for (const kind of ['host', 'group'] as const) {
    const name = kind in variable ? new Map<string, unknown>(Object.entries(variable)).get(kind) : undefined
    if (name !== undefined && !variables.some((each) => each.kind === kind && each.name === name))
      problems.push({ path: `${path}.${kind}`, message: `must name a variable of the kind "${kind}"` })
  }
  if (variable.kind === 'query') problems.push(...findPlaceholderProblems(variable.sql, variables, `${path}.sql`))
  return problems
}

/** Returns the names of the variables on which the options of a variable depend. */
const listDependencies = (variable: DashboardVariable): string[] => {
  if (variable.kind === 'host') return variable.group === undefined ? [] : [variable.group]
  const host = 'host' in variable && variable.host !== undefined ? [variable.host] : []
  return variable.kind === 'query' ? [...host, ...listPlaceholders(variable.sql)] : host
}

/** Returns the names from a variable back to itself, or undefined. */
const findCycle = (start: string, variables: readonly DashboardVariable[]): string[] | undefined => {
  const visited = new Set<string>()
  const follow = (name: string): string[] | undefined => {
    const variable = variables.find((each) => each.name === name)
    for (const next of variable ? listDependencies(variable) : []) {
      if (next === start) return [name, start]
      if (visited.has(next)) continue
      visited.add(next)
      const rest = follow(next)
      if (rest) return [name, ...rest]
    }
    return undefined
  }
  return follow(start)
}

const findPlaceholderProblems = (
  sql: string,
  variables: readonly DashboardVariable[],
  path: string,
): DashboardProblem[] => {
  const names = [
    ...Object.keys(builtInVariables),
    ...variables.flatMap((variable) => Object.keys(listVariablePlaceholders(variable))),
  ]
  return [
    ...listPlaceholders(sql)
      .filter((name) => !names.includes(name))
      .map((name) => ({ path, message: describeUnknown('variable', name, names) })),
    ...findUncheckedLists(sql, variables).map(({ name }) => ({
      path,
      message: `uses "${name}", which can be all values; write ({${name}_all} OR name IN {${name}})`,
    })),
  ]
}

/** Returns the filters that compare with a variable of several values by an operator for one value. */
const findFilterProblems = (
  filters: readonly string[],
  variables: readonly DashboardVariable[],
  path: string,
): DashboardProblem[] =>
  filters.flatMap((filter, index) => {
    const [, operator = '', name = ''] = /\.(\w+)\.\{(\w+)\}$/.exec(filter) ?? []
    const variable = variables.find((each) => each.name === name)
    return variable && isListVariable(variable) && !listOperators.has(operator)
      ? [
          {
            path: `${path}.filters.${index}`,
            message: `compares with the list "${name}" by "${operator}"; allowed: ${[...listOperators].join(', ')}`,
          },
        ]
      : []
  })

/** Operators of filters that can be used with lists: `eq` and `ne` become `in` and `notIn`. */
const listOperators: ReadonlySet<string> = new Set(['eq', 'ne', 'in', 'notIn'])

/** Returns `has an unknown chart "x"; did you mean "y"?`. */
const describeUnknown = (kind: string, name: string, names: readonly string[]): string =>
  `has an ${createNotFoundError(kind, name, names).message}`

/** Returns the check of one panel by its position in the list. */
const createPanelCheck =
  (content: DashboardContent, known: KnownDefinitions | undefined) =>
  (panel: DashboardPanel, index: number): DashboardProblem[] => {
    const path = `panels.${index}`
    const problems: DashboardProblem[] = []
    if (panel.x + panel.w > gridColumns)
      problems.push({ path: `${path}.w`, message: `must end at column ${gridColumns}; x + w is ${panel.x + panel.w}` })
    if (content.panels.findIndex(({ id }) => id === panel.id) !== index)
      problems.push({ path: `${path}.id`, message: `repeats "${panel.id}"; ids must be unique` })
    const variable = /^\{(.*)\}$/.exec(panel.host)?.[1]
    if (variable !== undefined && !content.variables.some(({ kind, name }) => kind === 'host' && name === variable))
      problems.push({ path: `${path}.host`, message: `must name a variable of the kind "host", not "${variable}"` })
    return [...problems, ...findContentProblems(panel, path, content, known)]
  }

const findContentProblems = (
  panel: DashboardPanel,
  path: string,
  { variables }: DashboardContent,
  known: KnownDefinitions | undefined,
): DashboardProblem[] => {
  const unknown = (kind: 'chart' | 'table', name: string, field: string): DashboardProblem[] => {
    const names = known?.[`${kind}s`].map((each) => each.name)
    return names === undefined || names.includes(name)
      ? []
      : [{ path: `${path}.${field}`, message: describeUnknown(kind, name, names) }]
  }
  if (panel.kind === 'chart') return unknown('chart', panel.chart, 'chart')
  if (panel.kind === 'table')
    return [...unknown('table', panel.table, 'table'), ...findFilterProblems(panel.filters, variables, path)]
  if (panel.kind === 'sql') return findPlaceholderProblems(panel.sql, variables, `${path}.sql`)
  if (panel.kind !== 'slo') return []
  return panel.source.kind === 'chart'
    ? unknown('chart', panel.source.chart, 'source.chart')
    : findPlaceholderProblems(panel.source.sql, variables, `${path}.source.sql`)
}
