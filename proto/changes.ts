import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostDataReaders, HostKey } from './host.ts'

/** The kinds of objects whose definitions are recorded. */
export const objectKinds = [
  'version',
  'restart',
  'setting',
  'merge-tree-setting',
  'server-setting',
  'settings-profile',
  'database',
  'table',
  'dictionary',
  'configured-dictionary',
  'function',
  'user',
  'role',
  'grants',
  'quota',
  'row-policy',
  'cluster',
  'macro',
  'disk',
  'storage-policy',
  'query-pattern',
  'workload',
] as const
export type ObjectKind = (typeof objectKinds)[number]

/** A change of the definition of an object of a host, according to the snapshots of the history. */
export const ObjectChange = z.object({
  hostKey: HostKey,
  /** A newer release may add kinds. */
  kind: z.string(),
  name: z.string(),
  change: z.enum(['created', 'changed', 'removed']),
  /** When the change was noticed, in epoch milliseconds of the clock of the host. */
  atMs: z.number(),
  /** When the object was last seen as before; null for a created object. */
  sinceMs: z.number().nullable(),
  /** The old and the new definition if both are short, such as `8 to 4`; empty otherwise. Earlier releases lack it. */
  summary: z.string().default(''),
  /** The change as a unified diff. Secrets are masked. */
  diff: z.string(),
})
export type ObjectChange = z.infer<typeof ObjectChange>

/** Maximum changes in one response. */
export const maxChanges = 500

/** Methods that return what changed on hosts. */
export const changeMethods = {
  objectChanges: rpc({
    doc: 'Lists changes of schema, settings, access and topology of hosts from the history, newest first.',
    callers: hostDataReaders,
    feature: 'METRICS',
    safe: true,
    input: z.object({
      hostKeys: z.array(HostKey).min(1).max(2_000),
      kinds: z.array(z.enum(objectKinds)).max(objectKinds.length).optional(),
      fromMs: z.number().int().min(0),
      toMs: z.number().int().min(0),
      limit: z.number().int().min(1).max(maxChanges).default(100),
    }),
    output: z.object({
      changes: z.array(ObjectChange),
      /** Whether a history is recorded; without one, the list is empty. */
      isEnabled: z.boolean(),
      /** Why the history could not be read; null if it could. */
      problem: z.string().nullable(),
    }),
  }),
}
