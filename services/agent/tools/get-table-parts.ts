import { z } from 'zod'
import { numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const Partition = z.object({
  database: z.string(),
  table: z.string(),
  partition: z.string(),
  parts: numericCellSchema,
  rows: numericCellSchema,
  bytes: numericCellSchema,
  smallestBytes: numericCellSchema,
  largestBytes: numericCellSchema,
  /** Number of parts of level 0, which no merge has produced. */
  unmerged: numericCellSchema,
  lastChangedMs: numericCellSchema,
  /** The number of active parts of a partition at which inserts are rejected, unless the table overrides it. */
  limit: numericCellSchema,
})

export const getTableParts = defineReadTool({
  name: 'get_table_parts',
  title: 'Table parts',
  description:
    'Active parts of each partition, most parts first, with sizes and the number of parts at which inserts fail.',
  feature: 'TABLES',
  example: { database: 'system' },
  core: true,
  input: z.strictObject({
    ...hostParameter,
    database: createNameParameter('Only this database').optional(),
    table: createNameParameter('Only tables of this name').optional(),
    limit: createLimitParameter(20, 200),
  }),
  async run({ hostId, database = '', table = '', limit }, context) {
    const host = await findHost(context, hostId)
    const parameters = { database, table }
    const statement = { tool: 'get_table_parts', statement: 'partitions', parameters, maxRows: limit }
    const partitions = await readRows(context, host, statement, Partition)
    const [fullest] = partitions
    const text = fullest
      ? `Partition ${fullest.partition} of ${fullest.database}.${fullest.table} has the most parts, ${fullest.parts}; inserts fail at ${fullest.limit}.`
      : 'No active parts match.'
    return createToolResult(text, { partitions })
  },
})
