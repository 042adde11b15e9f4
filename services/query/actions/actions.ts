import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { quoteText, quoteName } from '#shared/sql/statement-text.ts'
import { hostNumberSchema, hostBooleanSchema, readRecords } from '../analysis/read-records.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { runWrite } from './write.ts'

const querySql = `SELECT user, query_kind AS kind, toString(normalizedQueryHash(query)) AS fingerprint,
  round(elapsed, 1) AS elapsedSeconds, read_rows AS readRows, memory_usage AS memoryBytes, is_cancelled AS cancelled
FROM system.processes WHERE query_id = {queryId:String}`

const Running = z.object({
  user: z.string(),
  kind: z.string(),
  fingerprint: z.string(),
  elapsedSeconds: hostNumberSchema,
  readRows: hostNumberSchema,
  memoryBytes: hostNumberSchema,
  cancelled: hostBooleanSchema,
})

/** How long to wait for the query to end after KILL. */
const endsWithinSeconds = 10

/** Returns the handler that kills a running query. `state` is `ignored` if KILL QUERY returns no rows, else `done`. */
export const createKillQueryHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['killQuery'] =>
  async ({ hostKey, queryId }, call) => {
    const host = parts.hosts.get(hostKey)
    const look = { what: 'action/look', sql: querySql, parameters: { queryId } }
    const [target] = readRecords(host, Running, await parts.client.run(host, look, call))
    if (target === undefined) {
      throw new ServiceError('not-found', `no query "${queryId}" is running on host ${host.name}; it may have finished`)
    }
    const killing = {
      what: 'action/kill-query',
      sql: `KILL QUERY WHERE query_id = ${quoteText(queryId)} SYNC`,
      grant: 'GRANT KILL QUERY ON *.*',
      maxSeconds: endsWithinSeconds,
    }
    const { rows, queryId: own } = await runWrite(parts, host, killing, call)
    return { state: rows.length === 0 ? 'ignored' : 'done', target, queryId: own }
  }

const mutationSql = `SELECT toUnixTimestamp(create_time) * 1000 AS createdAtMs, parts_to_do AS partsToDo, is_done AS done,
  latest_failed_part AS failedPart, latest_fail_reason != '' AS failing
FROM system.mutations
WHERE database = {database:String} AND table = {table:String} AND mutation_id = {mutationId:String}`

const Mutation = z.object({
  createdAtMs: hostNumberSchema,
  partsToDo: hostNumberSchema,
  done: hostBooleanSchema,
  failedPart: z.string(),
  failing: hostBooleanSchema,
})

/** Returns the handler that kills an unfinished mutation. Parts that are already rewritten stay as they are. */
export const createKillMutationHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['killMutation'] =>
  async ({ hostKey, ...named }, call) => {
    const host = parts.hosts.get(hostKey)
    const { database, table, mutationId } = named
    const look = { what: 'action/look', sql: mutationSql, parameters: named }
    const [target] = readRecords(host, Mutation, await parts.client.run(host, look, call))
    if (target === undefined)
      throw new ServiceError(
        'not-found',
        `unknown mutation "${mutationId}" of ${database}.${table} on host ${host.name}`,
      )
    if (target.done)
      throw new ServiceError('conflict', `mutation "${mutationId}" of ${database}.${table} is already finished`)
    const which = `database = ${quoteText(database)} AND table = ${quoteText(table)} AND mutation_id = ${quoteText(mutationId)}`
    const killing = {
      what: 'action/kill-mutation',
      sql: `KILL MUTATION WHERE ${which} SYNC`,
      grant: `GRANT ALTER UPDATE, ALTER DELETE ON ${quoteName(database)}.${quoteName(table)}`,
    }
    const { rows, queryId } = await runWrite(parts, host, killing, call)
    return { state: rows.length === 0 ? 'ignored' : 'done', target, queryId }
  }

const tableSql = `SELECT engine,
  (SELECT count() FROM system.parts
   WHERE active AND database = {database:String} AND table = {table:String}
     AND ({partitionId:String} = '' OR partition_id = {partitionId:String})) AS parts
FROM system.tables WHERE database = {database:String} AND name = {table:String}`

const Table = z.object({ engine: z.string(), parts: hostNumberSchema })

/** The caller gets a response after this time, while the merge continues. */
const answerWithinMs = 10_000
const mergesWithinSeconds = 6 * 3_600

/** Returns the handler that merges the parts of a table. After ten seconds it responds and the merge continues. */
export const createOptimizeTableHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['optimizeTable'] =>
  async ({ hostKey, database, table, partitionId = '', final, deduplicate }, call) => {
    const host = parts.hosts.get(hostKey)
    const look = { what: 'action/look', sql: tableSql, parameters: { database, table, partitionId } }
    const [target] = readRecords(host, Table, await parts.client.run(host, look, call))
    const full = `${database}.${table}`
    if (target === undefined) throw new ServiceError('not-found', `unknown table "${full}" on host ${host.name}`)
    if (!target.engine.endsWith('MergeTree'))
      throw new ServiceError(
        'conflict',
        `table "${full}" has the engine ${target.engine}, which has no parts to optimize`,
      )
    if (partitionId !== '' && target.parts === 0)
      throw new ServiceError('not-found', `unknown partition "${partitionId}" of ${full} on host ${host.name}`)
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
    // The caller's signal is not used, because a cancelled merge would have to start again.
    const signal = AbortSignal.timeout(mergesWithinSeconds * 1_000)
    const context = { ...call, signal, deadline: Number.POSITIVE_INFINITY }
    const merged = runWrite(parts, host, merging, context).then(({ queryId }) => ({ state: 'done' as const, queryId }))
    const waited = pause(answerWithinMs, { state: 'running' as const, queryId: null }, { ref: false })
    return { ...(await Promise.race([merged, waited])), target }
  }
