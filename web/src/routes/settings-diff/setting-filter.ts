import type { SettingsDiff } from '#lib/api/host-comparison.ts'

export const settingTables = [
  { id: 'server_settings', title: 'Server' },
  { id: 'settings', title: 'Session' },
  { id: 'merge_tree_settings', title: 'MergeTree' },
] as const
export type SettingTable = (typeof settingTables)[number]['id']

/** Choices of the filter: settings that differ between hosts, that differ from the default, or all settings. */
export const differenceFilters = [
  { id: 'different', title: 'Differs between hosts' },
  { id: 'changed', title: 'Changed from the default' },
  { id: 'all', title: 'All' },
] as const
export type DifferenceFilter = (typeof differenceFilters)[number]['id']

export interface SettingFilter {
  scope: DifferenceFilter
  table: SettingTable | null
  search: string
}

export type Setting = SettingsDiff['rows'][number]

/** Returns the settings that match a filter. */
export const filterSettings = (rows: readonly Setting[], { scope, table, search }: SettingFilter): Setting[] => {
  const words = search.trim().toLowerCase()
  return rows.filter(
    (row) =>
      (scope === 'all' || (scope === 'different' ? row.hasDiff : row.changedFromDefault)) &&
      (table === null || row.table === table) &&
      (row.name.toLowerCase().includes(words) ||
        Object.values(row.values).some((value) => value?.toLowerCase().includes(words))),
  )
}

/** Returns the value that most hosts have; undefined if several values are equally common. */
export const findMostCommonValue = (values: readonly (string | null)[]): string | null | undefined => {
  const counts = [...Map.groupBy(values, (value) => value)].toSorted(([, one], [, other]) => other.length - one.length)
  const [first, second] = counts
  return first && (!second || first[1].length > second[1].length) ? first[0] : undefined
}
