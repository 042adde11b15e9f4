import { z } from 'zod'
import { quoteName } from '#shared/sql/statement-text.ts'
import { numericCellSchema } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult, type ToolContext } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const maxConditionLength = 20_000

const Impact = z.object({
  matchingRows: numericCellSchema,
  parts: numericCellSchema,
  rowsInParts: numericCellSchema,
  bytesInParts: numericCellSchema,
  largestPartBytes: numericCellSchema,
  ofParts: numericCellSchema,
  ofRows: numericCellSchema,
  ofBytes: numericCellSchema,
  unfinishedMutations: numericCellSchema,
  freeBytes: numericCellSchema,
})

/**
 * Returns the statement that computes the impact of a mutation. It groups by the virtual column `_part`, because parts
 * without a matching row are not rewritten.
 */
const formatImpactStatement = (from: string, condition: string): string => `
SELECT sum(matching) AS matchingRows, countIf(matching > 0) AS parts, sumIf(part.rows, matching > 0) AS rowsInParts,
  sumIf(part.bytes_on_disk, matching > 0) AS bytesInParts, maxIf(part.bytes_on_disk, matching > 0) AS largestPartBytes,
  count() AS ofParts, sum(part.rows) AS ofRows, sum(part.bytes_on_disk) AS ofBytes,
  (SELECT count() FROM system.mutations WHERE NOT is_done AND database = {database:String} AND table = {table:String}) AS unfinishedMutations,
  (SELECT min(unreserved_space) FROM system.disks) AS freeBytes
FROM system.parts AS part
LEFT JOIN (SELECT _part AS name, count() AS matching FROM ${from} WHERE (${condition}) GROUP BY name) AS found USING name
WHERE part.active AND part.database = {database:String} AND part.table = {table:String}`

export const estimateMutationImpact = defineReadTool({
  name: 'estimate_mutation_impact',
  title: 'Impact of a mutation',
  description:
    'What ALTER … UPDATE or DELETE with a condition would rewrite: matching rows, parts, bytes, free space, queued mutations. Reads the columns of the condition.',
  feature: 'TABLES',
  input: z.strictObject({
    ...hostParameter,
    database: createNameParameter('Database of the table'),
    table: createNameParameter('The table'),
    condition: z.string().min(1).max(maxConditionLength).describe('The WHERE condition'),
  }),
  async run({ hostId, database, table, condition }, context) {
    const host = await findHost(context, hostId)
    // Throws `not-found` with similar names for an unknown table.
    const { detail } = await context.query.exploreTable({ hostKey: host.key, database, table }, context.call)
    if (detail?.engine && !detail.engine.includes('MergeTree')) {
      return createToolResult(`${table} has the engine ${detail.engine}, which does not support mutations.`, {
        impact: null,
      })
    }
    const sql = formatImpactStatement(`${quoteName(database)}.${quoteName(table)}`, condition)
    const impact = await readImpact(context, { hostKey: host.key, query: sql, parameters: { database, table } })
    const text = impact
      ? `${impact.matchingRows} rows match in ${impact.parts} of ${impact.ofParts} parts; ${impact.bytesInParts} bytes would be rewritten.`
      : 'No data about the parts of this table.'
    return createToolResult(text, { impact })
  },
})

/** Runs the statement like a user query, with the read-only guard, because the model wrote the condition. */
const readImpact = async (
  { query, call }: ToolContext,
  request: { hostKey: string; query: string; parameters: Record<string, string> },
): Promise<z.output<typeof Impact> | null> => {
  const { columns, rows } = await query.runQuery({ ...request, maxRows: 1, purpose: 'tool' }, call)
  const [row] = rows
  return row ? Impact.parse(Object.fromEntries(columns.map(({ name: column }, index) => [column, row[index]]))) : null
}
