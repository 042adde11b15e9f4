import { z } from 'zod'
import { defineReadTool, createToolResult } from '#shared/tools/tool.ts'

export const getPostgresReplication = defineReadTool({
  name: 'get_postgres_replication',
  title: 'PostgreSQL replication',
  description:
    'Standbys, replication slots and subscriptions of the PostgreSQL source with their lag and retained WAL.',
  feature: 'CLUSTER',
  source: 'PostgreSQL source',
  input: z.strictObject({}),
  async run(_input, { query, call }) {
    const { replication, limited } = await query.postgresReplication({}, call)
    const { isStandby, standbys, slots, subscriptions } = replication
    const idle = slots.filter(({ isActive }) => !isActive).length
    const text = `A ${isStandby ? 'standby' : 'primary'} with ${standbys.length} standbys, ${slots.length} slots (${idle} inactive) and ${subscriptions.length} subscriptions.`
    return createToolResult(text, { ...replication, limited: limited?.message ?? null })
  },
})
