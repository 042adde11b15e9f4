import { z } from 'zod'
import { defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter } from '#shared/tools/tool-parameters.ts'

export const getPostgresActivity = defineReadTool({
  name: 'get_postgres_activity',
  title: 'PostgreSQL sessions',
  description:
    'Sessions of the PostgreSQL source with state, wait events and transaction age, oldest first. Statements have no values.',
  feature: 'QUERIES',
  source: 'PostgreSQL source',
  input: z.strictObject({
    all: z.boolean().default(false).describe('Include idle sessions and server processes'),
    limit: createLimitParameter(20, 200),
  }),
  async run(options, { query, call }) {
    const { sessions, counts, limited, truncated } = await query.postgresActivity(options, call)
    const text = `${counts.used} of ${counts.limit} connections in use: ${counts.active} active, ${counts.idle} idle, ${counts.idleInTransaction} idle in a transaction, ${counts.waitingForLock} waiting for a lock.`
    return createToolResult(text, { sessions, truncated, counts, limited: limited?.message ?? null })
  },
})
