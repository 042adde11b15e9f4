import { z } from 'zod'
import { numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const Disk = z.object({
  disk: z.string(),
  type: z.string(),
  /** Null for storage without a size limit. */
  totalBytes: numericCellSchema.nullable(),
  freeBytes: numericCellSchema.nullable(),
  unreservedBytes: numericCellSchema.nullable(),
  usedPercent: numericCellSchema.nullable(),
})
const Table = z.object({
  database: z.string(),
  table: z.string(),
  disk: z.string(),
  bytes: numericCellSchema,
  rows: numericCellSchema,
  parts: numericCellSchema,
  /** Size of inactive parts, which ClickHouse will remove. */
  inactiveBytes: numericCellSchema,
})

const maxDisks = 100

export const getDiskUsage = defineReadTool({
  name: 'get_disk_usage',
  title: 'Disk usage',
  description: 'Disks with free space, fullest first, and the largest tables.',
  feature: 'TABLES',
  core: true,
  input: z.strictObject({ ...hostParameter, limit: createLimitParameter(10, 100) }),
  async run({ hostId, limit }, context) {
    const host = await findHost(context, hostId)
    const [disks, tables] = await Promise.all([
      readRows(context, host, { tool: 'get_disk_usage', statement: 'disks', maxRows: maxDisks }, Disk),
      readRows(context, host, { tool: 'get_disk_usage', statement: 'tables', maxRows: limit }, Table),
    ])
    const [fullest] = disks
    const text =
      fullest?.usedPercent == null
        ? `${disks.length} disks on ${host.name}.`
        : `The fullest disk of ${host.name} is ${fullest.disk} at ${fullest.usedPercent} %.`
    return createToolResult(text, { disks, tables })
  },
})
