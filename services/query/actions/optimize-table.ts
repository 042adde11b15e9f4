import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { quoteName, quoteText } from '#shared/sql/quote.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Parts } from '../parts.ts'
import { write } from './write.ts'

const sql = `SELECT engine,
  (SELECT count() FROM system.parts
   WHERE active AND database = {database:String} AND table = {table:String}
     AND ({partitionId:String} = '' OR partition_id = {partitionId:String})) AS parts
FROM system.tables WHERE database = {database:String} AND name = {table:String}`

const Table = z.object({ engine: z.string(), parts: figure })

/** Merging goes on for as long as it takes; whoever asked is told so after this. */
const answerWithinMs = 10_000
const mergesWithinSeconds = 6 * 3_600

/** Merges the parts of a table. The answer comes within ten seconds, whether or not the merge has ended. */
export const optimizeTable =
  (parts: Parts): Handlers<typeof query>['optimizeTable'] =>
  async ({ hostKey, database, table, partitionId = '', final, deduplicate }, call) => {
    const host = parts.hosts.get(hostKey)
    const look = { what: 'action/look', sql, parameters: { database, table, partitionId } }
    const [target] = readRecords(host, Table, await parts.client.run(host, look, call))
    const full = `${database}.${table}`
    if (target === undefined) throw new ServiceError('not-found', `no table ${full} on host ${host.name}`)
    if (!target.engine.endsWith('MergeTree'))
      throw new ServiceError('conflict', `${full} has the engine ${target.engine}, which has no parts to merge`)
    if (partitionId !== '' && target.parts === 0)
      throw new ServiceError('not-found', `no partition ${partitionId} of ${full} on host ${host.name}`)
    const words = [
      `OPTIMIZE TABLE ${quoteName(database)}.${quoteName(table)}`,
      ...(partitionId === '' ? [] : [`PARTITION ID ${quoteText(partitionId)}`]),
      ...(final ? ['FINAL'] : []),
      ...(deduplicate ? ['DEDUPLICATE'] : []),
    ]
    const merging = {
      what: 'action/optimize-table',
      sql: words.join(' '),
      grant: `GRANT OPTIMIZE ON ${quoteName(database)}.${quoteName(table)}`,
      maxSeconds: mergesWithinSeconds,
    }
    // Not the caller's signal: leaving must not stop a merge half way, which would only have to begin anew.
    const signal = AbortSignal.timeout(mergesWithinSeconds * 1_000)
    const asking = { ...call, signal, deadline: Number.POSITIVE_INFINITY }
    const merged = write(parts, host, merging, asking).then(({ queryId }) => ({ state: 'done' as const, queryId }))
    const waited = pause(answerWithinMs, { state: 'running' as const, queryId: null }, { ref: false })
    return { ...(await Promise.race([merged, waited])), target }
  }
