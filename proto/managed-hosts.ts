import { z } from 'zod'
import { ConnectionTest } from './connections.ts'
import { rpc } from './contract.ts'
import { TransitPublicKey } from './encrypted-secrets.ts'

const noControls = [/^\P{Cc}*$/u, 'must not contain control characters'] as const
const maxLabelLength = 128

/** Label of an added host, which is also its key. Keys that begin with `user:` belong to user connections. */
export const HostLabel = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(maxLabelLength, `must not be longer than ${maxLabelLength} characters`)
  .regex(...noControls)
  .refine((label) => !label.startsWith('user:'), 'must not begin with "user:"')
const HostTag = z
  .string()
  .trim()
  .min(1)
  .max(maxLabelLength)
  .regex(...noControls)

/** The fields of an added host that callers may see. */
export const ManagedHostFields = z.object({
  label: HostLabel,
  group: z
    .string()
    .trim()
    .max(maxLabelLength)
    .regex(...noControls)
    .nullable(),
  tags: z.array(HostTag).max(50, 'must not have more than 50 entries'),
})
export type ManagedHostFields = z.infer<typeof ManagedHostFields>

/** Id of an added host, which does not change with its label. */
export const ManagedHostId = z.string().regex(/^[\w-]{22}$/, 'must be the id of an added host')

/** What the database user of a host may need. `readonly` of its profile forbids the last two regardless of grants. */
export const hostRights = ['system', 'objects', 'access', 'remote', 'findings', 'kill-query'] as const
export type HostRight = (typeof hostRights)[number]

const HostRightState = z.object({
  right: z.enum(hostRights),
  /** Null if the server does not report it. */
  isGranted: z.boolean().nullable(),
})

/** The result of a check: identity, rights and `readonly` setting of the user, or why the connection failed. */
export const HostCheck = z.discriminatedUnion('ok', [
  ConnectionTest.options[0].extend({
    readonly: z.number(),
    /** The database for insights and page views. */
    database: z.string(),
    rights: z.array(HostRightState),
  }),
  ConnectionTest.options[1],
])
export type HostCheck = z.infer<typeof HostCheck>

/** An encrypted `ConnectionTarget`. */
const encryptedTarget = z.string().max(20_000)
/** Whether the gateway received the request from a caller on its own machine. */
const isCallerLocal = z.boolean()
const gatewayOnly = { callers: ['gateway'], feature: 'SETTINGS' } as const

/** Methods of `query` for hosts that are added at run time. Processes with the role `guest` do not serve them. */
export const managedHostMethods = {
  managedHostSetup: rpc({
    callers: ['gateway'],
    doc: 'Returns the public key to encrypt targets of added hosts, and why none can be added.',
    safe: true,
    input: z.object({}),
    output: z.object({ key: TransitPublicKey, problem: z.string().nullable() }),
  }),
  checkHost: rpc({
    ...gatewayOnly,
    doc: 'Connects to a host before it is added; returns its version and the rights of the user. `invalid` for an address that is not allowed.',
    safe: true,
    input: z.object({ encryptedTarget, isCallerLocal }),
    output: HostCheck,
  }),
  addHost: rpc({
    ...gatewayOnly,
    doc: 'Adds a host to the monitored hosts. `conflict` for a used label or URL, `invalid` if the connection fails, unless `isUncheckedAllowed`.',
    input: z.object({
      id: ManagedHostId,
      ...ManagedHostFields.shape,
      encryptedTarget,
      isCallerLocal,
      isUncheckedAllowed: z.boolean(),
    }),
    output: z.object({ hostId: z.int(), host: z.string() }),
  }),
  changeHost: rpc({
    ...gatewayOnly,
    doc: 'Changes an added host. Without a target, its address and credentials stay the same.',
    input: z.object({
      id: ManagedHostId,
      ...ManagedHostFields.shape,
      encryptedTarget: encryptedTarget.optional(),
      isCallerLocal,
      isUncheckedAllowed: z.boolean(),
    }),
    output: z.object({ hostId: z.int(), host: z.string() }),
  }),
  removeHost: rpc({
    ...gatewayOnly,
    doc: 'Removes an added host from the monitored hosts.',
    input: z.object({ id: ManagedHostId }),
    output: z.object({ label: z.string() }),
  }),
}
