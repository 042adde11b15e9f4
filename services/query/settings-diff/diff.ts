import { type SettingRow, settingTables } from '#proto/settings-diff.ts'
import type { HostSettings } from './read-settings.ts'

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
