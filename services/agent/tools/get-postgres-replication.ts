import { z } from 'zod'
import { postgresTool } from '../source-tool.ts'
import { told } from '../read-tool.ts'

export const getPostgresReplication = postgresTool({
  name: 'get_postgres_replication',
  title: 'PostgreSQL replication',
  description:
    'Standbys, replication slots and subscriptions of the PostgreSQL source with their lag and the WAL kept for them.',
  feature: 'CLUSTER',
  input: z.strictObject({}),
  async run(_asked, { query, call }) {
    const { replication, limited } = await query.postgresReplication({}, call)
    const { isStandby, standbys, slots, subscriptions } = replication
    const idle = slots.filter(({ isActive }) => !isActive).length
    const text = `A ${isStandby ? 'standby' : 'primary'} with ${standbys.length} standbys, ${slots.length} slots (${idle} without a reader) and ${subscriptions.length} subscriptions.`
    return told(text, { ...replication, limited: limited?.message ?? null })
  },
})
