import { type ChartDefinition, intervals, type Sql, type TableDefinition } from '#proto/catalogue.ts'
import { lookBack } from '#proto/look-back.ts'
import { expandMacros, type Scope } from './macros.ts'
import { tableWindow } from './window.ts'

/** What no schema can say about a definition: whether its parts fit one another. Sentences begin with the key that is wrong. */
export const checkChart = (chart: ChartDefinition): string[] => {
  const times = chart.columns.filter((column) => column.role === 'time').length
  const isTimeline = chart.kind === 'timeline'
  const scope = {
    window: chart.lastHours === undefined ? undefined : { interval: chart.interval, since: 'now()', until: 'now()' },
  }
  return [
    ...checkNames(chart.columns),
    ...(times > 1 ? ['columns: more than one has the role time'] : []),
    ...(times === 1 && !isTimeline && (!chart.interval || !chart.lastHours)
      ? ['interval: a time column needs interval and lastHours']
      : []),
    // What happened is told at its own instants, in epoch milliseconds, and not in buckets.
    ...(isTimeline && (times === 0 || chart.interval || !chart.lastHours)
      ? ['kind: a timeline needs a time column and lastHours, and takes no interval']
      : []),
    ...(times === 0 && chart.kind === 'heatmap' ? ['kind: a heatmap needs a time column'] : []),
    ...(times === 0 && chart.interval ? ['interval: has no meaning without a time column'] : []),
    ...checkSql(chart.sql, { ...anyScope, ...scope }),
    ...checkParameters(chart.sql, chart.parameters),
  ]
}

export const checkTable = (table: TableDefinition): string[] => {
  const names = new Set(table.columns.map((column) => column.name))
  const linked = table.columns.flatMap((column) =>
    [...(column.href ?? '').matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? ''),
  )
  return [
    ...checkNames(table.columns),
    ...(table.sort && !names.has(table.sort.column) ? [`sort.column: there is no column ${table.sort.column}`] : []),
    ...linked.filter((name) => !names.has(name)).map((name) => `columns.href: there is no column ${name}`),
    ...checkSql(table.sql, { ...anyScope, window: tableWindow(table) }),
    ...checkParameters(table.sql, table.parameters),
  ]
}

export const anyScope: Scope = { window: undefined, zone: undefined, logs: new Map() }

const checkNames = (columns: readonly { name: string }[]): string[] => {
  const names = columns.map((column) => column.name)
  return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `columns: ${name} appears twice`)
}

/** Every statement of a definition with the version it begins at. */
export const branchesOf = (sql: Sql): { since: string | undefined; sql: string }[] =>
  typeof sql === 'string' ? [{ since: undefined, sql }] : sql

/** What is wrong with the macros of a statement; its key is named. */
export const checkSql = (sql: Sql, scope: Scope, key = 'sql'): string[] =>
  branchesOf(sql).flatMap((branch, index) => {
    const where = branch.since === undefined ? key : `${key}.${index}`
    try {
      expandMacros(branch.sql, {
        ...scope,
        window: scope.window && { ...scope.window, interval: scope.window.interval ?? intervals[0] },
      })
      return []
    } catch (error) {
      return [`${where}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })

const checkParameters = (sql: Sql, parameters: readonly { name: string; type: string }[]): string[] => {
  const texts = branchesOf(sql).map((branch) => branch.sql)
  const used = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/\{(\w+):\s*([^}]+)\}/g)].map((found) => [found[1] ?? '', found[2] ?? '']),
    ),
  )
  const windowed = texts.some((text) => /\$(?:window|since|until)\b/.test(text))
  const declared = new Set(parameters.map((parameter) => parameter.name))
  const unused = parameters.filter(({ name }) => !used.has(name) && !(name === lookBack && windowed))
  const otherwise = parameters.filter(({ name, type }) => used.has(name) && used.get(name) !== type)
  return [
    ...[...used.keys()].filter((name) => !declared.has(name)).map((name) => `parameters: {${name}} is not declared`),
    ...unused.map(({ name }) => `parameters: ${name} is not used`),
    ...otherwise.map(({ name, type }) => `parameters: ${name} is declared as ${type} and used as ${used.get(name)}`),
  ]
}
