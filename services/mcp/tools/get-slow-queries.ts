import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import { isOwn } from '#shared/sql/own-statements.ts'
import { count, select, type Selected } from '#shared/tools/select.ts'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { type Asking, hostAt, ofHost, statementText } from '../asking.ts'
import { whyNoQueryLog } from '../why-untold.ts'
import { tool } from '../tool.ts'

const Slow = z.object({
  queryId: z.string(),
  user: z.string(),
  kind: z.string(),
  endedMs: count,
  durationMs: count,
  rowsRead: count,
  bytesRead: count,
  memoryBytes: count,
  fingerprint: z.string(),
  statement: z.string(),
})

const sql = (asking: Asking) => `
SELECT query_id AS queryId, user, toString(query_kind) AS kind, toUnixTimestamp(event_time) * 1000 AS endedMs,
  query_duration_ms AS durationMs, read_rows AS rowsRead, read_bytes AS bytesRead, memory_usage AS memoryBytes,
  toString(normalized_query_hash) AS fingerprint, ${statementText(asking)} AS statement
FROM system.query_log
WHERE type = 'QueryFinish' AND is_initial_query AND NOT ${isOwn}
  AND event_date >= toDate(now() - toIntervalHour({lastHours:UInt16}))
  AND event_time >= now() - toIntervalHour({lastHours:UInt16})
  AND query_duration_ms >= {minDurationMs:UInt64}
ORDER BY query_duration_ms DESC`

export const getSlowQueries = tool({
  name: 'get_slow_queries',
  title: 'Slow queries',
  description: 'Slowest finished queries of the last hours, from the query log, without those of this product itself.',
  feature: 'QUERIES',
  input: z.strictObject({
    ...ofHost,
    lastHours: z.int().min(1).max(720).default(24).describe('How far to look back'),
    minDurationMs: z.int().min(0).max(86_400_000).default(0).describe('Shortest duration to tell'),
    limit: limitOf(20, 200),
  }),
  output: z.object({
    queries: z.array(Slow),
    /** Why there is nothing to tell; null when there is. */
    unavailable: z.string().nullable(),
  }),
  async run({ hostId, limit, ...parameters }, asking) {
    const host = await hostAt(asking, hostId)
    const { queries, unavailable } = await slowest(asking, host, { sql: sql(asking), parameters, maxRows: limit })
    if (unavailable !== null) return { text: `Not known: ${unavailable}.`, structured: { queries, unavailable } }
    const [first] = queries
    const window = `the last ${parameters.lastHours} h on ${host.name}`
    const text = first ? `${queries.length} of ${window}, the slowest ${first.durationMs} ms.` : `None in ${window}.`
    return { text, structured: { queries, unavailable } }
  },
})

const slowest = async (asking: Asking, host: Host, selected: Selected) => {
  try {
    return { queries: await select(asking, host, selected, Slow), unavailable: null }
  } catch (error) {
    return { queries: [], unavailable: whyNoQueryLog(error, host) }
  }
}
