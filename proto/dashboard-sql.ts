import type { DashboardVariable } from './dashboards.ts'

/** Variables that every dashboard has, with their ClickHouse types: the time range and a bucket length in seconds. */
export const builtInVariables: Readonly<Record<string, string>> = {
  from: 'DateTime',
  to: 'DateTime',
  interval: 'UInt32',
}

/** A placeholder of a statement: `{name}` or `{name:Type}`. */
export interface SqlPlaceholder {
  name: string
  /** The ClickHouse type; undefined for `{name}`. */
  type: string | undefined
}

/** Quoted texts and comments, which contain no placeholders, or a placeholder. */
const tokens =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\*[\s\S]*?\*\/|\{\s*([A-Za-z_]\w*)\s*(?::\s*([^{}]+?)\s*)?\}/g

/** Replaces the placeholders of a statement, except in quoted texts and comments. */
export const replacePlaceholders = (sql: string, replace: (placeholder: SqlPlaceholder) => string): string =>
  sql.replaceAll(tokens, (token: string, name: string | undefined, type: string | undefined) =>
    name === undefined ? token : replace({ name, type }),
  )

/** Returns the names of the placeholders of a statement, each once. */
export const listPlaceholders = (sql: string): string[] => {
  const names = new Set<string>()
  replacePlaceholders(sql, ({ name }) => {
    names.add(name)
    return ''
  })
  return [...names]
}

/** The value of a variable: a text, or a list, which is empty for all values. */
export type PlaceholderValue = string | readonly string[]
/** Values of variables and placeholders by name. */
export type PlaceholderValues = Readonly<Record<string, PlaceholderValue>>

/** A variable as placeholders refer to it. */
export type PlaceholderVariable = Pick<DashboardVariable, 'kind' | 'name'> & { multi?: boolean; includeAll?: boolean }

/** Returns whether the value of a variable is a list. */
export const isListVariable = ({ multi = false, includeAll = false }: PlaceholderVariable): boolean =>
  multi || includeAll

const allSuffix = '_all'
/** Parts of the name of a table, by the suffix of their placeholders. */
const tableParts: Readonly<Record<string, (table: string) => string>> = {
  _database: (table) => (table.includes('.') ? table.slice(0, table.indexOf('.')) : 'default'),
  _name: (table) => table.slice(table.indexOf('.') + 1),
}

/**
 * Returns the placeholders of a variable with their ClickHouse types: `{table}`, for tables `{table_database}` and
 * `{table_name}`, and for lists `{table_all}`, which is true for all values.
 */
export const listVariablePlaceholders = (variable: PlaceholderVariable): Record<string, string> => {
  const isList = isListVariable(variable)
  const suffixes = ['', ...(variable.kind === 'table' ? Object.keys(tableParts) : [])]
  return {
    ...Object.fromEntries(suffixes.map((suffix) => [variable.name + suffix, isList ? 'Array(String)' : 'String'])),
    ...(isList && { [variable.name + allSuffix]: 'Bool' }),
  }
}

/** Returns the values of the placeholders of a variable. */
export const expandVariable = (variable: PlaceholderVariable, value: PlaceholderValue): PlaceholderValues => {
  const { kind, name } = variable
  const parts = kind === 'table' ? Object.entries(tableParts) : []
  return {
    [name]: value,
    ...Object.fromEntries(
      parts.map(([suffix, part]) => [name + suffix, typeof value === 'string' ? part(value) : value.map(part)]),
    ),
    ...(isListVariable(variable) && { [name + allSuffix]: value.length === 0 ? '1' : '0' }),
  }
}

/** Returns the variables with all values that a statement uses without checking for all values. */
export const findUncheckedLists = <V extends PlaceholderVariable>(sql: string, variables: readonly V[]): V[] => {
  const used = listPlaceholders(sql)
  return variables.filter(
    (variable) =>
      variable.includeAll === true &&
      !used.includes(variable.name + allSuffix) &&
      Object.keys(listVariablePlaceholders(variable)).some((name) => used.includes(name)),
  )
}

/** A statement with the values of its placeholders, which the host binds. Values never become part of the text. */
export interface BoundStatement {
  query: string
  parameters: Record<string, string | string[]>
  /** Placeholders without a value. */
  missing: string[]
}

/** Gives each placeholder the type of its variable, and returns the values that the statement needs. */
export const bindPlaceholders = (
  sql: string,
  values: PlaceholderValues,
  variables: readonly PlaceholderVariable[],
): BoundStatement => {
  const names = listPlaceholders(sql)
  const types: Readonly<Record<string, string>> = Object.assign(
    {},
    ...variables.map(listVariablePlaceholders),
    builtInVariables,
  )
  return {
    query: replacePlaceholders(sql, ({ name, type }) => `{${name}:${type ?? types[name] ?? 'String'}}`),
    parameters: Object.fromEntries(
      names.flatMap((name) => {
        const value = Object.hasOwn(values, name) ? values[name] : undefined
        return value === undefined ? [] : [[name, typeof value === 'string' ? value : [...value]]]
      }),
    ),
    missing: names.filter((name) => !Object.hasOwn(values, name)),
  }
}
