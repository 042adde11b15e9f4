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

/** The values of a table variable for placeholders: `{table}`, `{table_database}` and `{table_name}`. */
export const expandTableValue = (name: string, value: string): Record<string, string> => {
  const dot = value.indexOf('.')
  return {
    [name]: value,
    [`${name}_database`]: dot === -1 ? 'default' : value.slice(0, dot),
    [`${name}_name`]: value.slice(dot + 1),
  }
}

/** A statement with the values of its placeholders, which the host binds. Values never become part of the text. */
export interface BoundStatement {
  query: string
  parameters: Record<string, string>
  /** Placeholders without a value. */
  missing: string[]
}

/** Gives each placeholder a type, `String` by default, and returns the values that the statement needs. */
export const bindPlaceholders = (sql: string, values: Readonly<Record<string, string>>): BoundStatement => {
  const names = listPlaceholders(sql)
  return {
    query: replacePlaceholders(sql, ({ name, type }) => `{${name}:${type ?? builtInVariables[name] ?? 'String'}}`),
    parameters: Object.fromEntries(
      names.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name] ?? '']] : [])),
    ),
    missing: names.filter((name) => !Object.hasOwn(values, name)),
  }
}
