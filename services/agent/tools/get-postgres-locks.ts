import { z } from 'zod'
import { defineReadTool, createToolResult } from '#shared/tools/tool.ts'

export const getPostgresLocks = defineReadTool({
  name: 'get_postgres_locks',
  title: 'PostgreSQL locks',
  description: 'Lock waits on the PostgreSQL source: the waiting sessions and the sessions that block them.',
  feature: 'QUERIES',
  source: 'PostgreSQL source',
  input: z.strictObject({}),
  async run(_input, { query, call }) {
    const { sessions, truncated, limited } = await query.postgresLocks({}, call)
    const [first] = sessions
    const text = first
      ? `${sessions.filter(({ blockedBy }) => blockedBy.length > 0).length} sessions wait for a lock; process ${first.pid} blocks ${first.blocks} of them.`
      : 'No session waits for a lock.'
    return createToolResult(text, { sessions, truncated, limited: limited?.message ?? null })
  },
})
