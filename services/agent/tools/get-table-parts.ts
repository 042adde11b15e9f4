import { z } from 'zod'
import { count, select } from '#shared/tools/select.ts'
import { limitOf, name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost, readTool, told } from '../read-tool.ts'

const Partition = z.object({
  database: z.string(),
  table: z.string(),
  partition: z.string(),
  parts: count,
  rows: count,
  bytes: count,
  smallestBytes: count,
  largestBytes: count,
  /** Parts that no merge has touched yet. */
  unmerged: count,
  lastChangedMs: count,
  /** Active parts of one partition from which on inserts are refused, where the table itself sets no other number. */
  limit: count,
})

const sql = `
SELECT database, table, partition, count() AS parts, sum(part.rows) AS rows, sum(bytes_on_disk) AS bytes,
  min(bytes_on_disk) AS smallestBytes, max(bytes_on_disk) AS largestBytes, countIf(level = 0) AS unmerged,
  toUnixTimestamp(max(modification_time)) * 1000 AS lastChangedMs,
  (SELECT toUInt64(any(value)) FROM system.merge_tree_settings WHERE name = 'parts_to_throw_insert') AS limit
FROM system.parts AS part
WHERE active AND ({database:String} = '' OR database = {database:String}) AND ({table:String} = '' OR table = {table:String})
GROUP BY database, table, partition
ORDER BY parts DESC, bytes DESC`

export const getTableParts = readTool({
  name: 'get_table_parts',
  title: 'Parts of tables',
  description:
    'Active parts by partition, the fullest first: of one table, one database or the host; with sizes and the number at which inserts fail.',
  feature: 'TABLES',
  core: true,
  input: z.strictObject({
    ...ofHost,
    database: name('Only this database').optional(),
    table: name('Only tables of this name').optional(),
    limit: limitOf(20, 200),
  }),
  async run({ hostId, database = '', table = '', limit }, asking) {
    const host = await hostAt(asking, hostId)
    const partitions = await select(asking, host, { sql, parameters: { database, table }, maxRows: limit }, Partition)
    const [fullest] = partitions
    const text = fullest
      ? `The fullest is ${fullest.partition} of ${fullest.database}.${fullest.table} with ${fullest.parts} parts; inserts fail at ${fullest.limit}.`
      : 'No active parts there.'
    return told(text, { partitions })
  },
})
