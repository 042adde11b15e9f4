import { z } from 'zod'
import { rpc } from './contract.ts'
import { AskedHost, HostKey, readers } from './host.ts'
import { Unavailable } from './unavailable.ts'

/** Hosts that are set side by side at most. */
export const maxComparedHosts = 16
/** At least two hosts, each once. */
export const ComparedHosts = z
  .array(HostKey)
  .min(2)
  .max(maxComparedHosts)
  .refine((keys) => new Set(keys).size === keys.length, 'each host once')

/** Where settings are told: of the server, of the configured user's sessions, and the defaults of MergeTree tables. */
export const settingTables = ['server_settings', 'settings', 'merge_tree_settings'] as const
const SettingTable = z.enum(settingTables)

/** One setting on all compared hosts. */
export const SettingRow = z.object({
  table: SettingTable,
  name: z.string(),
  /** In the order of the hosts; null where a host lacks the setting or did not tell. */
  values: z.array(z.string().nullable()),
  /** Hosts that tell this table disagree, one that lacks the setting included. */
  hasDiff: z.boolean(),
  /** On at least one host. */
  changedFromDefault: z.boolean(),
})
export type SettingRow = z.infer<typeof SettingRow>

/** A host of a diff: why it told nothing, or which tables it could not tell. */
export const DiffedHost = AskedHost.extend({ unavailable: z.array(Unavailable.extend({ table: SettingTable })) })
export type DiffedHost = z.infer<typeof DiffedHost>

/** Methods that set the settings of hosts side by side. */
export const settingsDiffMethods = {
  settingsDiff: rpc({
    doc: 'Server, session and MergeTree settings of several hosts side by side; each host fails alone.',
    callers: readers,
    feature: 'SETTINGS',
    safe: true,
    input: z.object({
      hostKeys: ComparedHosts,
      /** Only settings that are not at their default on every host. */
      changedOnly: z.boolean().default(false),
      /** Only settings on which the hosts disagree. */
      differentOnly: z.boolean().default(false),
    }),
    output: z.object({ hosts: z.array(DiffedHost), rows: z.array(SettingRow) }),
  }),
}
