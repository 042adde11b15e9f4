import { z } from 'zod'
import type { Handlers, Service } from '#proto/contract.ts'
import type { pageViewMethods } from '#proto/page-views.ts'
import { quoteText } from '#shared/quote.ts'
import { write } from '../actions/write.ts'
import { figure, readRecords } from '../analysis/records.ts'
import { eventsTable } from '../config.ts'
import type { Parts } from '../handlers/parts.ts'

const Row = z.object({ views: figure })

/** Removes the page views of one subject. A mutation, since rows that a lightweight DELETE hides stay on the disk. */
export const removePageViews =
  (parts: Parts): Handlers<Service<typeof pageViewMethods>>['removePageViews'] =>
  async ({ hostKey, actor }, call) => {
    const { client, hosts, env } = parts
    const host = hosts.get(hostKey)
    const table = eventsTable(env)
    if ((await client.presence(host, table, call)) !== 'present') return { removed: 0 }
    const isTheirs = `actor = ${quoteText(actor)}`
    const counting = { what: 'page-views/count', sql: `SELECT count() AS views FROM ${table} WHERE ${isTheirs}` }
    const [row] = readRecords(host, Row, await client.run(host, counting, call))
    if (!row?.views) return { removed: 0 }
    const removing = { what: 'page-views/remove', sql: `ALTER TABLE ${table} DELETE WHERE ${isTheirs}` }
    await write(parts, host, { ...removing, grant: `GRANT ALTER DELETE ON ${table}` }, call)
    return { removed: row.views }
  }
