import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { quoteText } from '#shared/sql/quote.ts'
import { figure, flag, readRecords } from '../analysis/records.ts'
import type { Parts } from '../parts.ts'
import { write } from './write.ts'

const sql = `SELECT user, query_kind AS kind, toString(normalizedQueryHash(query)) AS fingerprint,
  round(elapsed, 1) AS elapsedSeconds, read_rows AS readRows, memory_usage AS memoryBytes, is_cancelled AS cancelled
FROM system.processes WHERE query_id = {queryId:String}`

const Running = z.object({
  user: z.string(),
  kind: z.string(),
  fingerprint: z.string(),
  elapsedSeconds: figure,
  readRows: figure,
  memoryBytes: figure,
  cancelled: flag,
})

/** The host looks for its end this long; it was told to end then in any case. */
const endsWithinSeconds = 10

/** Ends a query that still runs, and says whether the host saw it end. */
export const killQuery =
  (parts: Parts): Handlers<typeof query>['killQuery'] =>
  async ({ hostKey, queryId }, call) => {
    const host = parts.hosts.get(hostKey)
    const look = { what: 'action/look', sql, parameters: { queryId } }
    const [target] = readRecords(host, Running, await parts.client.run(host, look, call))
    if (target === undefined) {
      throw new ServiceError('not-found', `no query ${queryId} runs on host ${host.name}; it may have ended by itself`)
    }
    const killing = {
      what: 'action/kill-query',
      sql: `KILL QUERY WHERE query_id = ${quoteText(queryId)} SYNC`,
      grant: 'GRANT KILL QUERY ON *.*',
      maxSeconds: endsWithinSeconds,
    }
    const { rows, queryId: own } = await write(parts, host, killing, call)
    return { state: rows.length === 0 ? 'ignored' : 'done', target, queryId: own }
  }
