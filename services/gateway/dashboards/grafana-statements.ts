import {
  isListVariable,
  listVariablePlaceholders,
  replacePlaceholders,
  type PlaceholderVariable,
} from '#proto/dashboard-sql.ts'

/** A statement of the catalogue with the values of its placeholders. */
export interface DefinitionStatement {
  sql: string
  parameters: Readonly<Record<string, string | number | boolean | null>>
  /** Values of the panel, which replace those of the definition: texts, or a variable such as `{user}`. */
  chosen?: Readonly<Record<string, string>>
  variables?: readonly PlaceholderVariable[]
  /** Default time range in hours, if the statement has one. */
  lastHours: number | undefined
  /** The column with epoch milliseconds, if it is a time series. */
  timeColumn: string | undefined
}

/** Converts a statement of the catalogue to SQL for Grafana, whose macros replace the time range. */
export const toGrafanaStatement = ({
  sql,
  parameters,
  chosen = {},
  variables = [],
  lastHours,
  timeColumn,
}: DefinitionStatement): string => {
  const timed =
    lastHours === undefined
      ? sql
      : sql.replaceAll(`(now() - toIntervalHour(${lastHours}))`, '$__fromTime').replaceAll('(now() + 1)', '$__toTime')
  const valueOf = (name: string): string => {
    const variable = /^\{(\w+)\}$/.exec(chosen[name] ?? '')?.[1]
    return variable === undefined
      ? quoteText(chosen[name] ?? String(parameters[name] ?? ''))
      : toScalarExpression(variable, variables)
  }
  const literal = replacePlaceholders(timed, ({ name, type }) => castLiteral(valueOf(name), type))
  if (timeColumn === undefined) return literal
  // Grafana requires a column of the type DateTime, and rows in the order of time.
  const column = `\`${timeColumn}\``
  return `SELECT * REPLACE (fromUnixTimestamp64Milli(${column}) AS ${column})\nFROM (\n${literal}\n)\nORDER BY ${column}`
}

const builtIn: Readonly<Record<string, string>> = {
  from: '$__fromTime',
  to: '$__toTime',
  interval: '$__interval_s',
}

/**
 * Converts a statement of a user: variables become template variables, which Grafana quotes as SQL text. Lists become
 * arrays. Grafana replaces a variable with all values by these values, so that `{name_all}` is false.
 */
export const toGrafanaTemplate = (sql: string, variables: readonly PlaceholderVariable[] = []): string => {
  const types: Readonly<Record<string, string>> = Object.assign({}, ...variables.map(listVariablePlaceholders))
  return replacePlaceholders(sql, ({ name, type }) => {
    const macro = builtIn[name]
    if (macro !== undefined) return macro
    if (types[name] === 'Bool') return 'false'
    if (types[name] === 'Array(String)') return castLiteral(toArrayExpression(name, variables), type ?? types[name])
    return type === 'Identifier' ? `"\${${name}:raw}"` : castLiteral(`\${${name}:sqlstring}`, type)
  })
}

/** Expressions for the parts of a table name, by the suffix of the placeholder. */
const tableParts: Readonly<Record<string, (table: string) => string>> = {
  _database: (table) => `substring(${table}, 1, position(${table}, '.') - 1)`,
  _name: (table) => `substring(${table}, position(${table}, '.') + 1)`,
}

/** Returns the variable of several tables of which a placeholder is a part, with the expression for the part. */
const findTablePart = (name: string, variables: readonly PlaceholderVariable[]) =>
  Object.entries(tableParts)
    .flatMap(([suffix, part]) =>
      variables
        .filter((each) => each.kind === 'table' && isListVariable(each) && each.name + suffix === name)
        .map((variable) => ({ variable: variable.name, part })),
    )
    .at(0)

const toArrayExpression = (name: string, variables: readonly PlaceholderVariable[]): string => {
  const found = findTablePart(name, variables)
  return found
    ? `arrayMap(name -> ${found.part('name')}, [\${${found.variable}:sqlstring}])`
    : `[\${${name}:sqlstring}]`
}

/** Returns the expression for a variable with one value. A panel is repeated for each value of a list. */
const toScalarExpression = (name: string, variables: readonly PlaceholderVariable[]): string => {
  const found = findTablePart(name, variables)
  return found ? found.part(`\${${found.variable}:sqlstring}`) : `\${${name}:sqlstring}`
}

/** Returns the variable of several values for each of which a panel with these parameters is shown. */
export const findRepeatedVariable = (
  parameters: Readonly<Record<string, string>>,
  variables: readonly PlaceholderVariable[],
): string | undefined => {
  const names = new Set(Object.values(parameters).map((value) => /^\{(\w+)\}$/.exec(value)?.[1]))
  return variables.find(
    (variable) =>
      isListVariable(variable) &&
      Object.keys(listVariablePlaceholders(variable)).some((placeholder) => names.has(placeholder)),
  )?.name
}

const castLiteral = (literal: string, type: string | undefined): string =>
  type === undefined || type === 'String' ? literal : `CAST(${literal} AS ${type})`

const quoteText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
