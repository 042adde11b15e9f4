import { z } from 'zod'
import { quoteName, quoteText } from '#shared/sql/quote.ts'
import { compareVersions } from './version.ts'
import type { Statement } from './statement.ts'

/** What is read of a log of `system` that the server has rotated, by the log's name; others are read by their names. */
export type RotatedLogs = ReadonlyMap<string, string>

/** Names of a log and of its earlier tables, by the log. */
type Rotations = ReadonlyMap<string, readonly string[]>

/** Older servers refuse `merge` in read-only statements, and to users who may not create temporary tables. */
const mergesReadOnly = '25.6'

const rotationsOf = (tables: ReadonlySet<string>): Rotations => {
  const earlier = [...tables].filter((table) => /^[a-z_]+_\d+$/.test(table)).toSorted()
  const rotations = Map.groupBy(earlier, (table) => table.slice(0, table.lastIndexOf('_')))
  return new Map([...rotations].flatMap(([log, rest]) => (tables.has(log) ? [[log, [log, ...rest]] as const] : [])))
}

/** Asks for the columns of rotated logs where they have to be told one by one; none where there is no need to. */
export const logColumnsStatement = (version: string, tables: ReadonlySet<string>): Statement | undefined => {
  const names = [...rotationsOf(tables).values()].flat()
  if (names.length === 0 || compareVersions(version, mergesReadOnly) >= 0) return undefined
  return {
    what: 'capabilities',
    bare: true,
    maxSeconds: 10,
    sql: `SELECT table, groupArray([name, type])
FROM (
  SELECT table, name, type
  FROM system.columns
  WHERE database = 'system' AND table IN (${names.map(quoteText).join(', ')}) AND default_kind != 'ALIAS'
  ORDER BY table, position
)
GROUP BY table`,
  }
}

/** Names and types of columns by table, as they are answered. */
export const LogColumns = z.array(z.tuple([z.string(), z.array(z.tuple([z.string(), z.string()]))]))

/** What is read of the rotated logs; with the columns of all of them where these had to be asked for. */
export const rotatedLogs = (tables: ReadonlySet<string>, answered?: z.infer<typeof LogColumns>): RotatedLogs => {
  const columns = answered && new Map(answered)
  const sourceOf = (log: string, names: readonly string[]): string =>
    columns ? union(names, columns) : String.raw`merge('system', '^${log}(_\\d+)?$')`
  return new Map([...rotationsOf(tables)].map(([log, names]) => [log, sourceOf(log, names)]))
}

type ColumnsOf = ReadonlyMap<string, readonly (readonly [name: string, type: string])[]>

/** The tables of one log as a subquery with the columns of the first: what an earlier one lacks has the default of its type. */
const union = ([log = '', ...earlier]: readonly string[], columns: ColumnsOf): string => {
  const wanted = columns.get(log) ?? []
  const selected = [log, ...earlier].map((table) => {
    const types = new Map(columns.get(table))
    const expressions = wanted.map(([name, type]) => columnAs(name, type, types.get(name)))
    return `SELECT ${expressions.join(', ')} FROM system.${table}`
  })
  return `(${selected.join(' UNION ALL ')})`
}

const columnAs = (name: string, type: string, found: string | undefined): string => {
  const column = quoteName(name)
  if (found === type) return column
  const text = quoteText(type)
  return found === undefined ? `defaultValueOfTypeName(${text}) AS ${column}` : `CAST(${column}, ${text}) AS ${column}`
}
