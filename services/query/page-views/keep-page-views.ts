import type { Handlers, Service } from '#proto/contract.ts'
import type { PageView, pageViewMethods } from '#proto/page-views.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { writeInto } from '../actions/write-into.ts'
import { settings } from '../config.ts'
import { createEventsTable } from '../definitions/events.ts'
import type { Parts } from '../handlers/parts.ts'

const writesWithinSeconds = 10

/** The product's own page views, kept on a host. Nothing is written to a host unless the operator names the table. */
export const pageViewHandlers = (parts: Parts): Handlers<Service<typeof pageViewMethods>> => ({
  tracksPageViews: async () => ({ enabled: isTracking(parts.env) }),
  async keepPageViews({ hostKey, views }, call) {
    if (views.length === 0 || !isTracking(parts.env)) return { kept: 0 }
    const host = parts.hosts.get(hostKey)
    const { EVENTS_TABLE_NAME: table } = read(settings, parts.env)
    const limits = { maxSeconds: writesWithinSeconds, grant: `GRANT CREATE TABLE, SELECT, INSERT ON ${table}` }
    const rows = views.map((view) => JSON.stringify(rowOf(view)))
    const sql = `INSERT INTO ${table} (event_time, kind, actor, data, extra) FORMAT JSONEachRow\n${rows.join('\n')}`
    const inserting = { ...limits, what: 'page-views/keep', sql }
    const creating = { ...limits, what: 'page-views/create', sql: createEventsTable(table) }
    await writeInto(parts, host, { table, creating, inserting }, call)
    return { kept: views.length }
  },
})

/** The name has a default that charts read; only a name that the operator wrote is one to write to. */
const isTracking = ({ EVENTS_TABLE_NAME: named }: Environment): boolean => named !== undefined && named !== ''

const rowOf = ({ page, actor, device, bot, country, atMs }: PageView) => ({
  event_time: Math.floor(atMs / 1_000),
  kind: 'PageView',
  actor,
  data: page,
  extra: JSON.stringify({ device, bot, country: country ?? '' }),
})
