import { z } from 'zod'
import { isOwn } from '#shared/sql/own-statements.ts'
import { count, select } from '#shared/tools/select.ts'
import { limitOf, name } from '#shared/tools/tool-parameters.ts'
import { hostAt, lastHours, ofHost, readTool, told } from '../read-tool.ts'

const longestStatement = 1_000
const longestException = 500

const Failure = z.object({
  user: z.string(),
  code: count,
  error: z.string(),
  fingerprint: z.string(),
  failures: count,
  firstMs: count,
  lastMs: count,
  queryId: z.string(),
  exception: z.string(),
  /** Without the values in it. */
  statement: z.string(),
  total: count,
})

const sql = `
SELECT user, exception_code AS code, errorCodeToName(exception_code) AS error,
  toString(normalized_query_hash) AS fingerprint, count() AS failures,
  toUnixTimestamp(min(event_time)) * 1000 AS firstMs, toUnixTimestamp(max(event_time)) * 1000 AS lastMs,
  argMax(query_id, event_time) AS queryId, leftUTF8(argMax(exception, event_time), ${longestException}) AS exception,
  leftUTF8(normalizeQuery(argMax(query, event_time)), ${longestStatement}) AS statement,
  sum(count()) OVER () AS total
FROM system.query_log
WHERE type IN ('ExceptionBeforeStart', 'ExceptionWhileProcessing') AND is_initial_query AND NOT ${isOwn}
  AND event_date >= toDate(now() - toIntervalHour({lastHours:UInt16}))
  AND event_time >= now() - toIntervalHour({lastHours:UInt16})
  AND ({user:String} = '' OR user = {user:String})
GROUP BY user, exception_code, normalized_query_hash
ORDER BY failures DESC, lastMs DESC`

export const getFailedQueries = readTool({
  name: 'get_failed_queries',
  title: 'Failed queries',
  description:
    'Queries that failed, by user, error and pattern, those of most failures first, each with its last error.',
  feature: 'QUERIES',
  core: true,
  input: z.strictObject({
    ...ofHost,
    lastHours: lastHours(24),
    user: name('Only queries of this user').optional(),
    limit: limitOf(20, 200),
  }),
  async run({ hostId, lastHours: hours, user = '', limit }, asking) {
    const host = await hostAt(asking, hostId)
    const rows = await select(asking, host, { sql, parameters: { lastHours: hours, user }, maxRows: limit }, Failure)
    const [first] = rows
    const window = `the last ${hours} h on ${host.name}`
    const text = first
      ? `${first.total} failures in ${window}; ${first.failures} of them are ${first.error} of ${first.user}.`
      : `Nothing failed in ${window}.`
    return told(text, { total: first?.total ?? 0, failures: rows.map(({ total: _, ...row }) => row) })
  },
})
