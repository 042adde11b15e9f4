import { type HostProxy, startHostProxy } from '../../services/testing/host-proxy.ts'

/** A host on which users can be managed by SQL. The embedded engine does not support this. */
export interface ManagedHost extends HostProxy {
  /** Recorded statements that would have changed users, roles or grants. */
  readonly changes: readonly string[]
}

/** System tables with users, roles and grants. The proxy replaces them with editable copies. */
const copiedTables = ['users', 'roles', 'role_grants', 'grants'] as const
const statements = [
  'CREATE DATABASE managed',
  ...copiedTables.map((table) => `CREATE TABLE managed.${table} AS system.${table} ENGINE = Memory`),
  `INSERT INTO managed.users (name, storage, auth_type, host_ip) VALUES ('ann', 'local_directory', ['sha256_password'], ['::/0']), ('default', 'users_xml', ['no_password'], ['::/0'])`,
  `INSERT INTO managed.roles (name, storage) VALUES ('reader', 'local_directory')`,
  `INSERT INTO managed.role_grants (user_name, granted_role_name) VALUES ('ann', 'reader')`,
  `INSERT INTO managed.grants (role_name, access_type, database) VALUES ('reader', 'SELECT', 'shop')`,
]

/** Starts a proxy in front of an embedded engine. It forwards reads; it records user changes without running them. */
export const startManagedHost = async (engineUrl: string): Promise<ManagedHost> => {
  for (const statement of statements) {
    const answer = await fetch(engineUrl, { method: 'POST', body: statement })
    if (!answer.ok) throw new Error(await answer.text())
  }
  const changes: string[] = []
  const before = await startHostProxy(engineUrl, async (body) => {
    const sql = body.toString()
    if (/^\s*(CREATE|ALTER|DROP|GRANT|REVOKE)\b/.test(sql)) {
      changes.push(sql)
      return undefined
    }
    return sql.replaceAll(/\bsystem\.(users|roles|role_grants|grants)\b/g, 'managed.$1')
  })
  return { ...before, changes }
}
