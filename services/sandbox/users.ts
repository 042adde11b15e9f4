import { escapeXml } from './xml.ts'

/** A user of the sandbox engine with its settings profile. */
export interface SandboxUser {
  user: string
  password: string
  profile: 'default' | 'readonly' | 'reports'
  /** The privileges of the user; undefined means all. */
  grants?: string[]
}

/** Returns the users of a sandbox; `password` is the password of `watchhouse`. */
export function listUsers(password: string): SandboxUser[] {
  return [
    { user: 'default', password: '', profile: 'default' },
    { user: 'watchhouse', password, profile: 'default' },
    { user: 'analyst', password: 'analyst', profile: 'readonly' },
    { user: 'ingest', password: 'ingest', profile: 'default' },
    {
      user: 'reports',
      password: 'reports',
      profile: 'reports',
      grants: ['GRANT SELECT ON shop.*', 'GRANT SELECT ON telemetry.*'],
    },
  ]
}

/**
 * Returns the content of `users.xml`. Unlike the default of a server, read-only queries are cancelled when their client
 * disconnects.
 */
export function formatUsersXml(users: SandboxUser[]): string {
  return `<clickhouse>
  <profiles>
    <default>
      <cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close>
      <implicit_select>0</implicit_select>
      <allow_introspection_functions>0</allow_introspection_functions>
      <storage_file_read_method>pread</storage_file_read_method>
    </default>
    <readonly><profile>default</profile><readonly>1</readonly></readonly>
    <reports><profile>default</profile><readonly>2</readonly><max_execution_time>20</max_execution_time></reports>
  </profiles>
  <quotas><default/></quotas>
  <users>
${users.map(formatUserXml).join('\n')}
  </users>
</clickhouse>
`
}

function formatUserXml({ user, password, profile, grants }: SandboxUser): string {
  const rights =
    grants === undefined
      ? '<access_management>1</access_management><named_collection_control>1</named_collection_control>'
      : `<grants>${grants.map((grant) => `<query>${escapeXml(grant)}</query>`).join('')}</grants>`
  const manages = profile === 'default' || grants !== undefined ? rights : ''
  return `    <${user}><password>${escapeXml(password)}</password><networks><ip>::/0</ip></networks><profile>${profile}</profile><quota>default</quota>${manages}</${user}>`
}
