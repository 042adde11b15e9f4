import { z } from 'zod'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { postgresTool } from '../source-tool.ts'
import { told } from '../read-tool.ts'

export const getPostgresActivity = postgresTool({
  name: 'get_postgres_activity',
  title: 'PostgreSQL sessions',
  description:
    'Sessions of the PostgreSQL source with state, waits and age of their transactions, the oldest first; statements without values.',
  feature: 'QUERIES',
  input: z.strictObject({
    all: z.boolean().default(false).describe('Idle sessions and processes of the server too'),
    limit: limitOf(20, 200),
  }),
  async run(asked, { query, call }) {
    const { sessions, counts, limited, truncated } = await query.postgresActivity(asked, call)
    const text = `${counts.used} of ${counts.limit} connections in use: ${counts.active} active, ${counts.idle} idle, ${counts.idleInTransaction} idle in a transaction, ${counts.waitingForLock} waiting for a lock.`
    return told(text, { sessions, truncated, counts, limited: limited?.message ?? null })
  },
})
