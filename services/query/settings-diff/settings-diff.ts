import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { type SettingRow, settingTables, type SettingsDiffHost } from '#proto/settings-diff.ts'
import { hostBooleanSchema, readRecords } from '../analysis/read-records.ts'
import { queryIfAvailable } from '../clickhouse/availability.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { queryEachHost } from '../hosts/query-each-host.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

type Table = (typeof settingTables)[number]

const SettingRecord = z.object({ name: z.string(), value: z.string(), changed: hostBooleanSchema })
type SettingRecord = z.output<typeof SettingRecord>

/** The settings of one host, with the reason for each unavailable table. */
interface HostSettings {
  tables: ReadonlyMap<Table, readonly SettingRecord[]>
  unavailable: SettingsDiffHost['unavailable']
}

/** Returns the statement for a table of settings. It is sent without settings, which would count as changed. */
const statementOf = (table: Table): Statement => ({
  what: 'settings-diff',
  bare: true,
  cache: 'standard',
  sql: `SELECT name, value, changed FROM system.${table}`,
})

const readSettings = async (client: DatabaseClient, host: MonitoredHost, call: CallContext): Promise<HostSettings> => {
  const tables = new Map<Table, readonly SettingRecord[]>()
  const unavailable: HostSettings['unavailable'] = []
  const readOne = async (table: Table): Promise<void> => {
    const needs = { requires: [`system.${table}`] }
    const availability = await queryIfAvailable(client, host, needs, call, async () =>
      readRecords(host, SettingRecord, await client.run(host, statementOf(table), call)),
    )
    if (availability.unavailable) unavailable.push({ table, ...availability.unavailable })
    else tables.set(table, availability.data)
  }
  await Promise.all(settingTables.map(readOne))
  return { tables, unavailable }
}

/** Returns the handler that compares the settings of several hosts. */
export const createSettingsDiffHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['settingsDiff'] =>
  async ({ hostKeys, ...filter }, call) => {
    const results = await queryEachHost(parts, hostKeys, call, (host, own) => readSettings(parts.client, host, own))
    return {
      hosts: results.map(({ ref, result }) => ({ ...ref, unavailable: result?.unavailable ?? [] })),
      rows: diffSettings(
        results.map(({ result }) => result?.tables ?? null),
        filter,
      ),
    }
  }

interface SettingsFilter {
  changedOnly: boolean
  differentOnly: boolean
}

/** Returns one row per setting, by table and name, with its value on each host; null where a host has no data. */
export const diffSettings = (
  hosts: readonly (HostSettings['tables'] | null)[],
  { changedOnly, differentOnly }: SettingsFilter,
): SettingRow[] =>
  settingTables
    .flatMap((table) => rowsOf(table, hosts))
    .filter((row) => (row.changedFromDefault || !changedOnly) && (row.hasDiff || !differentOnly))

const rowsOf = (table: SettingRow['table'], hosts: readonly (HostSettings['tables'] | null)[]): SettingRow[] => {
  const settingsByHost = hosts.map((tables) => {
    const settings = tables?.get(table)
    return settings && new Map(settings.map((setting) => [setting.name, setting]))
  })
  const names = new Set(settingsByHost.flatMap((settings) => [...(settings?.keys() ?? [])]))
  return [...names].toSorted().map((name) => {
    const found = settingsByHost.map((settings) => settings?.get(name))
    const values = found.map((setting) => setting?.value ?? null)
    return {
      table,
      name,
      values,
      hasDiff: new Set(values.filter((_, index) => settingsByHost[index])).size > 1,
      changedFromDefault: found.some((setting) => setting?.changed),
    }
  })
}
