import { z } from 'zod'
import { count, readRows } from '#shared/tools/read-rows.ts'
import { findHost, readTool, result } from '#shared/tools/tool.ts'
import { limitOf, name, hostParameter } from '#shared/tools/tool-parameters.ts'

const Partition = z.object({
  database: z.string(),
  table: z.string(),
  partition: z.string(),
  parts: count,
  rows: count,
  bytes: count,
  smallestBytes: count,
  largestBytes: count,
  /** Number of parts of level 0, which are not merged yet. */
  unmerged: count,
  lastChangedMs: count,
  /** The number of active parts of a partition at which inserts are rejected, unless the table overrides it. */
  limit: count,
})

export const getTableParts = readTool({
  name: 'get_table_parts',
  title: 'Parts of tables',
  description:
    'Active parts by partition, the fullest first: of one table, one database or the host; with sizes and the number at which inserts fail.',
  feature: 'TABLES',
  example: { database: 'system' },
  core: true,
  input: z.strictObject({
    ...hostParameter,
    database: name('Only this database').optional(),
    table: name('Only tables of this name').optional(),
    limit: limitOf(20, 200),
  }),
  async run({ hostId, database = '', table = '', limit }, context) {
    const host = await findHost(context, hostId)
    const parameters = { database, table }
    const statement = { tool: 'get_table_parts', statement: 'partitions', parameters, maxRows: limit }
    const partitions = await readRows(context, host, statement, Partition)
    const [fullest] = partitions
    const text = fullest
      ? `The fullest is ${fullest.partition} of ${fullest.database}.${fullest.table} with ${fullest.parts} parts; inserts fail at ${fullest.limit}.`
      : 'No active parts there.'
    return result(text, { partitions })
  },
})
