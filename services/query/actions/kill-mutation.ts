import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { quoteName, quoteText } from '#shared/sql/quote.ts'
import { figure, flag, readRecords } from '../analysis/records.ts'
import type { Parts } from '../parts.ts'
import { write } from './write.ts'

const sql = `SELECT toUnixTimestamp(create_time) * 1000 AS createdAtMs, parts_to_do AS partsToDo, is_done AS done,
  latest_failed_part AS failedPart, latest_fail_reason != '' AS failing
FROM system.mutations
WHERE database = {database:String} AND table = {table:String} AND mutation_id = {mutationId:String}`

const Mutation = z.object({
  createdAtMs: figure,
  partsToDo: figure,
  done: flag,
  failedPart: z.string(),
  failing: flag,
})

/** Stops a mutation that is not done; parts that it has rewritten stay as they are. */
export const killMutation =
  (parts: Parts): Handlers<typeof query>['killMutation'] =>
  async ({ hostKey, ...named }, call) => {
    const host = parts.hosts.get(hostKey)
    const { database, table, mutationId } = named
    const look = { what: 'action/look', sql, parameters: named }
    const [target] = readRecords(host, Mutation, await parts.client.run(host, look, call))
    if (target === undefined)
      throw new ServiceError('not-found', `no mutation ${mutationId} of ${database}.${table} on host ${host.name}`)
    if (target.done)
      throw new ServiceError('conflict', `mutation ${mutationId} of ${database}.${table} is done already`)
    const which = `database = ${quoteText(database)} AND table = ${quoteText(table)} AND mutation_id = ${quoteText(mutationId)}`
    const killing = {
      what: 'action/kill-mutation',
      sql: `KILL MUTATION WHERE ${which} SYNC`,
      grant: `GRANT ALTER UPDATE, ALTER DELETE ON ${quoteName(database)}.${quoteName(table)}`,
    }
    const { rows, queryId } = await write(parts, host, killing, call)
    return { state: rows.length === 0 ? 'ignored' : 'done', target, queryId }
  }
