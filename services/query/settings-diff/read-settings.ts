import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { type DiffedHost, settingTables } from '#proto/settings-diff.ts'
import { flag, readRecords } from '../analysis/records.ts'
import { askFor } from '../availability.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

type Table = (typeof settingTables)[number]

const SettingRecord = z.object({ name: z.string(), value: z.string(), changed: flag })
export type SettingRecord = z.output<typeof SettingRecord>

/** The settings of one host; of the tables that it cannot tell it says why. */
export interface HostSettings {
  tables: ReadonlyMap<Table, readonly SettingRecord[]>
  unavailable: DiffedHost['unavailable']
}

/** Sent without settings of ours, which would be shown as the user's. */
const statementOf = (table: Table): Statement => ({
  what: 'settings-diff',
  bare: true,
  cache: 'standard',
  sql: `SELECT name, value, changed FROM system.${table}`,
})

/** Reads all settings of a host, table by table. */
export const readSettings = async (client: DatabaseClient, host: MonitoredHost, call: Call): Promise<HostSettings> => {
  const tables = new Map<Table, readonly SettingRecord[]>()
  const unavailable: HostSettings['unavailable'] = []
  const readOne = async (table: Table): Promise<void> => {
    const needs = { requires: [`system.${table}`] }
    const answer = await askFor(client, host, needs, call, async () =>
      readRecords(host, SettingRecord, await client.run(host, statementOf(table), call)),
    )
    if (answer.unavailable) unavailable.push({ table, ...answer.unavailable })
    else tables.set(table, answer.told)
  }
  await Promise.all(settingTables.map(readOne))
  return { tables, unavailable }
}
