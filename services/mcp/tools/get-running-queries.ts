import { z } from 'zod'
import { count, select } from '#shared/tools/select.ts'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { type Asking, hostAt, ofHost, statementText } from '../asking.ts'
import { tool } from '../tool.ts'

const Running = z.object({
  queryId: z.string(),
  user: z.string(),
  kind: z.string(),
  elapsedSeconds: count,
  rowsRead: count,
  bytesRead: count,
  memoryBytes: count,
  statement: z.string(),
})

const sql = (asking: Asking) => `
SELECT query_id AS queryId, user, toString(query_kind) AS kind, elapsed AS elapsedSeconds,
  read_rows AS rowsRead, read_bytes AS bytesRead, memory_usage AS memoryBytes, ${statementText(asking)} AS statement
FROM system.processes
WHERE is_initial_query AND query_id != queryID()
ORDER BY elapsed DESC`

export const getRunningQueries = tool({
  name: 'get_running_queries',
  title: 'Running queries',
  description: 'What the host works on now, longest first.',
  feature: 'QUERIES',
  input: z.strictObject({ ...ofHost, limit: limitOf(50, 500) }),
  output: z.object({ queries: z.array(Running), truncated: z.boolean() }),
  async run({ hostId, limit }, asking) {
    const host = await hostAt(asking, hostId)
    // One more than is told tells whether there are more.
    const running = await select(asking, host, { sql: sql(asking), maxRows: limit + 1 }, Running)
    const queries = running.slice(0, limit)
    const truncated = running.length > limit
    const [longest] = queries
    const text = longest
      ? `${truncated ? 'More than ' : ''}${queries.length} running on ${host.name}, the longest for ${longest.elapsedSeconds.toFixed(1)} s.`
      : `Nothing is running on ${host.name}.`
    return { text, structured: { queries, truncated } }
  },
})
