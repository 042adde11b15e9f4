import type { SchemaObjectKind } from '#proto/schema-diff.ts'
import { quoteName } from '#shared/sql/statement-text.ts'

/** A column of a table. Clauses that the column lacks are empty. */
export interface Column {
  name: string
  type: string
  /** `DEFAULT`, `MATERIALIZED`, `EPHEMERAL` or `ALIAS`, with its expression. */
  defaultKind: string
  defaultExpression: string
  comment: string
  codec: string
  statistics: string
  ttl: string
  settings: string
}

/** A table, view or dictionary, parsed from its create statement. All expressions are SQL text. */
export interface ObjectDefinition {
  kind: Exclude<SchemaObjectKind, 'database'>
  database: string
  name: string
  /** The complete statement. Unique identifiers in it are replaced by macros. */
  statement: string
  /** What stands between the name and the columns of a view, such as its target table. */
  head: string
  columns: readonly Column[]
  /** Skip indexes, projections and constraints by name, without their leading keyword and name. */
  indexes: ReadonlyMap<string, string>
  projections: ReadonlyMap<string, string>
  constraints: ReadonlyMap<string, string>
  /** The engine with its arguments. */
  engine: string
  /** `PARTITION BY`, `PRIMARY KEY`, `ORDER BY`, `SAMPLE BY`, `TTL`, and the clauses of dictionaries. */
  clauses: ReadonlyMap<string, string>
  settings: ReadonlyMap<string, string>
  /** The comment as a string literal. */
  comment: string
  /** The query of a view. */
  query: string
}

/** Returns the quoted name of a table with its database. */
export const quoteTable = ({ database, name }: Pick<ObjectDefinition, 'database' | 'name'>): string =>
  `${quoteName(database)}.${quoteName(name)}`

/** Returns the definition of a column after its name. */
export const formatColumn = ({ type, ...column }: Column): string =>
  [
    type,
    column.defaultKind && `${column.defaultKind} ${column.defaultExpression}`.trim(),
    column.comment && `COMMENT ${column.comment}`,
    column.codec && `CODEC${column.codec}`,
    column.statistics && `STATISTICS${column.statistics}`,
    column.ttl && `TTL ${column.ttl}`,
    column.settings && `SETTINGS ${column.settings}`,
  ]
    .filter(Boolean)
    .join(' ')
