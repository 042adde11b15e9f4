import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { LogSetting } from '#proto/query-detail.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { hostBooleanSchema, readRecords } from './read-records.ts'

/** The settings that decide whether a query writes rows to the logs of threads and processors. */
const names = ['log_query_threads', 'log_processors_profiles', 'log_queries_min_query_duration_ms'] as const

const statement: Statement = {
  what: 'query-detail/log-settings',
  sql: `SELECT name, value, changed AS isChanged FROM system.settings WHERE name IN (${names.map((name) => `'${name}'`).join(', ')})`,
  cache: 'historical',
}

const Row = z.object({ name: z.string(), value: z.string(), isChanged: hostBooleanSchema })

/**
 * Returns the values that a query had: its own, which the log lists if they differ from the default, else those of the
 * host. If the profile of the monitoring user changes a setting, the default of the host is unknown.
 */
export const readLogSettings = async (
  { client, host, call }: { client: DatabaseClient; host: MonitoredHost; call: CallContext },
  ofQuery: Readonly<Record<string, string>>,
): Promise<LogSetting[]> => {
  const rows = readRecords(host, Row, await client.run(host, statement, call))
  return rows.map(({ name, value, isChanged }): LogSetting => {
    const own = ofQuery[name]
    if (own !== undefined) return { name, value: own, source: 'query' }
    return { name, value, source: isChanged ? 'monitoring-user' : 'default' }
  })
}
