import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { type SettingRow, settingTables, type DiffedHost } from '#proto/settings-diff.ts'
import { flag, readRecords } from '../analysis/records.ts'
import { askFor } from '../clickhouse/availability.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { askEach } from '../hosts/ask-each.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'

type Table = (typeof settingTables)[number]

const SettingRecord = z.object({ name: z.string(), value: z.string(), changed: flag })
type SettingRecord = z.output<typeof SettingRecord>

/** The settings of one host; of the tables that it cannot tell it says why. */
interface HostSettings {
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
const readSettings = async (client: DatabaseClient, host: MonitoredHost, call: Call): Promise<HostSettings> => {
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

/** The settings of several hosts side by side. */
export const settingsDiff =
  (parts: Parts): Handlers<typeof query>['settingsDiff'] =>
  async ({ hostKeys, ...wanted }, call) => {
    const answers = await askEach(parts, hostKeys, call, (host, own) => readSettings(parts.client, host, own))
    return {
      hosts: answers.map(({ asked, answer }) => ({ ...asked, unavailable: answer?.unavailable ?? [] })),
      rows: diffSettings(
        answers.map(({ answer }) => answer?.tables ?? null),
        wanted,
      ),
    }
  }

/** Which settings are of interest. */
interface Wanted {
  changedOnly: boolean
  differentOnly: boolean
}

/** Every setting with its value on each host, null for a host that told nothing; in the order of tables and names. */
export const diffSettings = (hosts: readonly (HostSettings['tables'] | null)[], wanted: Wanted): SettingRow[] =>
  settingTables
    .flatMap((table) => rowsOf(table, hosts))
    .filter((row) => (row.changedFromDefault || !wanted.changedOnly) && (row.hasDiff || !wanted.differentOnly))

const rowsOf = (table: SettingRow['table'], hosts: readonly (HostSettings['tables'] | null)[]): SettingRow[] => {
  const told = hosts.map((tables) => {
    const settings = tables?.get(table)
    return settings && new Map(settings.map((setting) => [setting.name, setting]))
  })
  const names = new Set(told.flatMap((settings) => [...(settings?.keys() ?? [])]))
  return [...names].toSorted().map((name) => {
    const found = told.map((settings) => settings?.get(name))
    const values = found.map((setting) => setting?.value ?? null)
    return {
      table,
      name,
      values,
      hasDiff: new Set(values.filter((_, index) => told[index])).size > 1,
      changedFromDefault: found.some((setting) => setting?.changed),
    }
  })
}
