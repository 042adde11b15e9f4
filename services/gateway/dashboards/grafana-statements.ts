import { replacePlaceholders } from '#proto/dashboard-sql.ts'

/** A statement of the catalogue with the values of its placeholders. */
export interface DefinitionStatement {
  sql: string
  parameters: Readonly<Record<string, string | number | boolean | null>>
  /** Default time range in hours, if the statement has one. */
  lastHours: number | undefined
  /** The column with epoch milliseconds, if it is a time series. */
  timeColumn: string | undefined
}

/** Converts a statement of the catalogue to SQL for Grafana, whose macros replace the time range. */
export const toGrafanaStatement = ({ sql, parameters, lastHours, timeColumn }: DefinitionStatement): string => {
  const timed =
    lastHours === undefined
      ? sql
      : sql.replaceAll(`(now() - toIntervalHour(${lastHours}))`, '$__fromTime').replaceAll('(now() + 1)', '$__toTime')
  const literal = replacePlaceholders(timed, ({ name, type }) =>
    castLiteral(quoteText(String(parameters[name] ?? '')), type),
  )
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

/** Converts a statement of a user: variables become template variables, which Grafana quotes as SQL text. */
export const toGrafanaTemplate = (sql: string): string =>
  replacePlaceholders(sql, ({ name, type }) => {
    const macro = builtIn[name]
    if (macro !== undefined) return macro
    return type === 'Identifier' ? `"\${${name}:raw}"` : castLiteral(`\${${name}:sqlstring}`, type)
  })

const castLiteral = (literal: string, type: string | undefined): string =>
  type === undefined || type === 'String' ? literal : `CAST(${literal} AS ${type})`

const quoteText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
