import { z } from 'zod'
import { integerSchema } from '#shared/tools/read-rows.ts'
import type { Host } from '#proto/host.ts'
import type { ToolContext } from '#shared/tools/tool.ts'

/** A table in the results of the schema tools. */
export const TableSchema = z.object({
  engine: z.string(),
  comment: z.string(),
  partitionKey: z.string(),
  sortingKey: z.string(),
  primaryKey: z.string(),
  rows: integerSchema.nullable(),
  bytes: integerSchema.nullable(),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      defaultKind: z.string(),
      defaultExpression: z.string(),
      codec: z.string(),
      comment: z.string(),
    }),
  ),
  /** Whether there are more columns than these. */
  truncated: z.boolean(),
})
export type TableSchema = z.infer<typeof TableSchema>

interface TableRef {
  database: string
  table: string
}

/** Reads the schema of a table. Throws `not-found` with similar names for an unknown table. */
export const readTableSchema = async (
  { query, call }: ToolContext,
  { key }: Host,
  { database, table }: TableRef,
): Promise<TableSchema> => {
  const input = { hostKey: key, database, table }
  const [overview, columns] = await Promise.all([query.exploreTable(input, call), query.exploreColumns(input, call)])
  const { detail } = overview
  return {
    engine: detail?.engine ?? '',
    comment: detail?.comment ?? '',
    partitionKey: detail?.partitionKey ?? '',
    sortingKey: detail?.sortingKey ?? '',
    primaryKey: detail?.primaryKey ?? '',
    rows: detail?.rows ?? null,
    bytes: detail?.bytes ?? null,
    columns: columns.rows.map(({ name, type, defaultKind, defaultExpression, codec, comment }) => ({
      name,
      type,
      defaultKind,
      defaultExpression,
      codec,
      comment,
    })),
    truncated: columns.truncated,
  }
}
