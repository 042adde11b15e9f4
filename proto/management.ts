import { z } from 'zod'
import { Identifier } from './actions.ts'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'

/** A password as hosts store it: the hexadecimal SHA-256 of password and salt. The password itself is never sent. */
export const PasswordHash = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
  salt: z.string().regex(/^[0-9A-Za-z]{16,64}$/, 'must be 16 to 64 letters and digits'),
})
export type PasswordHash = z.infer<typeof PasswordHash>

const maxItems = 64
const identifiers = z.array(Identifier).max(maxItems, `must have at most ${maxItems} names`)
/** Addresses from which a user can connect; any by default. */
const AllowedHost = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('ip'),
    value: z.union(
      [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
      'must be an IP address or a network such as 10.0.0.0/8',
    ),
  }),
  z.strictObject({ kind: z.literal('name'), value: z.string().regex(/^[\w.-]{1,253}$/, 'must be the name of a host') }),
  z.strictObject({ kind: z.literal('local') }),
])
const userTraits = { allowedHosts: z.array(AllowedHost).max(maxItems).optional(), defaultRoles: identifiers.optional() }
const userField = { user: Identifier }
const roleField = { role: Identifier }
const grantFields = { ...roleField, to: Identifier }
/** Fields that grants and revocations share. A null `database` or `table` means all databases or tables. */
const privilege = {
  /** A name of `system.privileges`, such as `SELECT` or `ALTER UPDATE`. */
  privilege: z.string().regex(/^[A-Za-z][A-Za-z0-9 ]{0,63}$/, 'must be the name of a privilege, such as SELECT'),
  columns: identifiers.default([]),
  database: Identifier.nullable(),
  table: Identifier.nullable(),
  to: Identifier,
}

const operation = <const N extends string, S extends z.ZodRawShape>(name: N, params: S) =>
  z.strictObject({ operation: z.literal(name), params: z.strictObject(params) })

/** Returns the schema of all operations on users, roles and grants, with the given schema for passwords. */
export const createManagementSchema = <P extends z.ZodType>(password: P) =>
  z.discriminatedUnion('operation', [
    operation('create_user', { ...userField, ...userTraits, password }),
    z.strictObject({
      operation: z.literal('alter_user'),
      params: z
        .strictObject({ ...userField, ...userTraits, password: password.optional() })
        .refine((params) => Object.keys(params).length > 1, 'must change the password, allowedHosts or defaultRoles'),
    }),
    operation('drop_user', userField),
    operation('create_role', roleField),
    operation('drop_role', roleField),
    operation('grant_role', { ...grantFields, adminOption: z.boolean().default(false) }),
    operation('revoke_role', grantFields),
    operation('grant_privilege', { ...privilege, grantOption: z.boolean().default(false) }),
    operation('revoke_privilege', privilege),
  ])

/** An operation on users, roles or grants, with its parameters. */
export const ManagementOperation = createManagementSchema(PasswordHash)
export type ManagementOperation = z.infer<typeof ManagementOperation>

/** Methods that manage users, roles and grants of a host. */
export const managementMethods = {
  management: rpc({
    doc: 'Returns whether users, roles and grants can be changed.',
    callers: ['gateway'],
    feature: 'SECURITY',
    safe: true,
    input: z.object({}),
    output: z.object({ enabled: z.boolean() }),
  }),
  manage: rpc({
    doc: 'Changes users, roles or grants. `conflict` if the entity exists, `not-found` if it does not, `forbidden` unless COLUMNDB_MANAGEMENT_ENABLED is exactly true.',
    callers: ['gateway'],
    feature: 'SECURITY',
    prefer: 'hostKey',
    input: z.object({ hostKey: HostKey, management: ManagementOperation }),
    /** The statement as sent, with its password hash replaced by `[HIDDEN]`. */
    output: z.object({ ddl: z.string() }),
  }),
}
