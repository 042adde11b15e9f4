import { z } from 'zod'
import { numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const flag = z.coerce.boolean()

const Replica = z.object({
  database: z.string(),
  table: z.string(),
  replica: z.string(),
  isReadonly: flag,
  isSessionExpired: flag,
  delaySeconds: numericCellSchema,
  queueSize: numericCellSchema,
  insertsInQueue: numericCellSchema,
  mergesInQueue: numericCellSchema,
  lostParts: numericCellSchema,
  exception: z.string(),
})
const Entry = z.object({
  database: z.string(),
  table: z.string(),
  type: z.string(),
  part: z.string(),
  ageSeconds: numericCellSchema,
  tries: numericCellSchema,
  postponed: numericCellSchema,
  exception: z.string(),
})

export const getReplicationStatus = defineReadTool({
  name: 'get_replication_status',
  title: 'Replication',
  description:
    'Replicated tables, worst first: read-only state, expired Keeper session, delay, queue size. Also the failing queue entries.',
  feature: 'CLUSTER',
  core: true,
  input: z.strictObject({ ...hostParameter, limit: createLimitParameter(20, 200) }),
  async run({ hostId, limit }, context) {
    const host = await findHost(context, hostId)
    const [replicas, failing] = await Promise.all([
      readRows(context, host, { tool: 'get_replication_status', statement: 'replicas', maxRows: limit }, Replica),
      readRows(context, host, { tool: 'get_replication_status', statement: 'failing', maxRows: limit }, Entry),
    ])
    const readonly = replicas.filter(({ isReadonly }) => isReadonly).length
    const text =
      replicas.length === 0
        ? `${host.name} has no replicated tables.`
        : `${readonly} of the ${replicas.length} returned replicas are read-only; ${failing.length} queue entries fail.`
    return createToolResult(text, { replicas, failing })
  },
})
