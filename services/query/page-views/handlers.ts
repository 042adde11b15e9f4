import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { PageView, pageViewMethods } from '#proto/page-views.ts'
import type { Environment } from '#shared/config/environment.ts'
import { quoteText } from '#shared/sql/statement-text.ts'
import { insertIntoOwnTable, runWrite } from '../actions/write.ts'
import { hostNumberSchema, readRecords } from '../analysis/read-records.ts'
import { readEventsTableName } from '../config.ts'
import { createEventsTableSql } from '../definitions/events.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

const Row = z.object({ views: hostNumberSchema })

/** Returns the handler that deletes the page views of a user. A lightweight DELETE would leave the rows on disk. */
const removePageViews =
  (parts: QueryHandlerDeps): ServiceHandlers<Service<typeof pageViewMethods>>['removePageViews'] =>
  async ({ hostKey, actor }, call) => {
    const { client, hosts, env } = parts
    const host = hosts.get(hostKey)
    const table = readEventsTableName(env)
    if ((await client.presence(host, table, call)) !== 'present') return { removed: 0 }
    const isTheirs = `actor = ${quoteText(actor)}`
    const counting = { what: 'page-views/count', sql: `SELECT count() AS views FROM ${table} WHERE ${isTheirs}` }
    const [row] = readRecords(host, Row, await client.run(host, counting, call))
    if (!row?.views) return { removed: 0 }
    const removing = { what: 'page-views/remove', sql: `ALTER TABLE ${table} DELETE WHERE ${isTheirs}` }
    await runWrite(parts, host, { ...removing, grant: `GRANT ALTER DELETE ON ${table}` }, call)
    return { removed: row.views }
  }

const writesWithinSeconds = 10
/** The time until the next attempt on a host whose user may not write, because grants may change. */
const retryAfterMs = 3_600_000

/** Returns the handlers for page views of Watchhouse, which are stored on a host if its user may write. */
export const createPageViewHandlers = (parts: QueryHandlerDeps): ServiceHandlers<Service<typeof pageViewMethods>> => {
  let refusedAtMs = Number.NEGATIVE_INFINITY
  const isEnabled = (): boolean => parts.clock.elapsedMs() - refusedAtMs >= retryAfterMs
  return {
    tracksPageViews: async () => ({ enabled: isEnabled() }),
    async storePageViews({ hostKey, views }, call) {
      if (views.length === 0 || !isEnabled()) return { kept: 0 }
      try {
        await keep(parts, { hostKey, views }, call)
        return { kept: views.length }
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'forbidden') throw error
        refusedAtMs = parts.clock.elapsedMs()
        // The error is thrown only if the operator has configured a table; otherwise, storing page views is optional.
        if (isNamed(parts.env)) throw error
        return { kept: 0 }
      }
    },
    removePageViews: removePageViews(parts),
  }
}

const keep = async (
  parts: QueryHandlerDeps,
  { hostKey, views }: { hostKey: string; views: readonly PageView[] },
  call: CallContext,
): Promise<void> => {
  const host = parts.hosts.get(hostKey)
  const table = readEventsTableName(parts.env)
  const limits = { maxSeconds: writesWithinSeconds, grant: `GRANT CREATE TABLE, SELECT, INSERT ON ${table}` }
  const rows = views.map((view) => JSON.stringify(rowOf(view)))
  const sql = `INSERT INTO ${table} (event_time, kind, actor, data, extra) FORMAT JSONEachRow\n${rows.join('\n')}`
  const inserting = { ...limits, what: 'page-views/keep', sql }
  const creating = { ...limits, what: 'page-views/create', sql: createEventsTableSql(table) }
  await insertIntoOwnTable(parts, host, { table, creating, inserting }, call)
}

const isNamed = ({ EVENTS_TABLE_NAME: named }: Environment): boolean => named !== undefined && named !== ''

const rowOf = ({ page, actor, device, bot, country, atMs }: PageView) => ({
  event_time: Math.floor(atMs / 1_000),
  kind: 'PageView',
  actor,
  data: page,
  extra: JSON.stringify({ device, bot, country: country ?? '' }),
})
