import { z } from 'zod'
import { rpc } from './contract.ts'
import { QueriedHost, HostKey, hostDataReaders } from './host.ts'
import { UnavailableReason } from './unavailable-reason.ts'

/** The maximum number of hosts in a comparison. */
export const maxComparedHosts = 16
/** Keys of the hosts to compare: at least two, all different. */
export const ComparedHostKeys = z
  .array(HostKey)
  .min(2)
  .max(maxComparedHosts)
  .refine((keys) => new Set(keys).size === keys.length, 'must contain each host only once')

/** The system tables with settings of the server, of sessions of the configured user, and of MergeTree tables. */
export const settingTables = ['server_settings', 'settings', 'merge_tree_settings'] as const
const SettingTable = z.enum(settingTables)

/** One setting on all compared hosts. */
export const SettingRow = z.object({
  table: SettingTable,
  name: z.string(),
  /** Values in host order; null if a host lacks the setting or returned no data. */
  values: z.array(z.string().nullable()),
  /** Whether the hosts that returned data differ. A missing setting counts as a difference. */
  hasDiff: z.boolean(),
  /** Whether the value differs from the default on at least one host. */
  changedFromDefault: z.boolean(),
})
export type SettingRow = z.infer<typeof SettingRow>

/** A host of a settings diff: why it failed, or which tables are unavailable. */
export const SettingsDiffHost = QueriedHost.extend({
  unavailable: z.array(UnavailableReason.extend({ table: SettingTable })),
})
export type SettingsDiffHost = z.infer<typeof SettingsDiffHost>

/** Methods that compare the settings of hosts. */
export const settingsDiffMethods = {
  settingsDiff: rpc({
    doc: 'Compares server, session and MergeTree settings of several hosts; each host fails independently.',
    callers: hostDataReaders,
    feature: 'SETTINGS',
    safe: true,
    input: z.object({
      hostKeys: ComparedHostKeys,
      /** Whether to omit settings that have their default on every host. */
      changedOnly: z.boolean().default(false),
      /** Whether to omit settings that are equal on all hosts. */
      differentOnly: z.boolean().default(false),
    }),
    output: z.object({ hosts: z.array(SettingsDiffHost), rows: z.array(SettingRow) }),
  }),
}
