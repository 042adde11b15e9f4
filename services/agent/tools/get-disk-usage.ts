import { z } from 'zod'
import { count, select } from '#shared/tools/select.ts'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost, readTool, told } from '../read-tool.ts'

const Disk = z.object({
  disk: z.string(),
  type: z.string(),
  /** Null where storage has no end. */
  totalBytes: count.nullable(),
  freeBytes: count.nullable(),
  unreservedBytes: count.nullable(),
  usedPercent: count.nullable(),
})
const Table = z.object({
  database: z.string(),
  table: z.string(),
  disk: z.string(),
  bytes: count,
  rows: count,
  parts: count,
  /** Parts that are only still there, and will be removed. */
  inactiveBytes: count,
})

/** Object storages say that they have 16 EiB. */
const disksSql = `
WITH total_space >= toUInt64(exp2(60)) AS endless
SELECT name AS disk, type, if(endless, NULL, total_space) AS totalBytes, if(endless, NULL, free_space) AS freeBytes,
  if(endless, NULL, unreserved_space) AS unreservedBytes,
  if(endless OR total_space = 0, NULL, round(100 * (1 - free_space / total_space), 2)) AS usedPercent
FROM system.disks
ORDER BY usedPercent DESC NULLS LAST`

const tablesSql = `
SELECT database, table, disk_name AS disk, sumIf(bytes_on_disk, active) AS bytes, sumIf(part.rows, active) AS rows,
  countIf(active) AS parts, sumIf(bytes_on_disk, NOT active) AS inactiveBytes
FROM system.parts AS part
GROUP BY database, table, disk
ORDER BY bytes + inactiveBytes DESC`

const mostDisks = 100

export const getDiskUsage = readTool({
  name: 'get_disk_usage',
  title: 'Disk usage',
  description: 'Disks with their free space, the fullest first, and the tables that take most of it.',
  feature: 'TABLES',
  core: true,
  input: z.strictObject({ ...ofHost, limit: limitOf(10, 100) }),
  async run({ hostId, limit }, asking) {
    const host = await hostAt(asking, hostId)
    const [disks, tables] = await Promise.all([
      select(asking, host, { sql: disksSql, maxRows: mostDisks }, Disk),
      select(asking, host, { sql: tablesSql, maxRows: limit }, Table),
    ])
    const [fullest] = disks
    const text =
      fullest?.usedPercent == null
        ? `${disks.length} disks on ${host.name}.`
        : `The fullest disk of ${host.name} is ${fullest.disk} at ${fullest.usedPercent} %.`
    return told(text, { disks, tables })
  },
})
