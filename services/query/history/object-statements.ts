/** A statement that returns the name and the definition of every object of a kind. */
export interface ObjectStatement {
  kind: string
  requires: readonly string[]
  /** A third column contains the time of the last change in epoch seconds, if the host knows it. */
  sql: string
  /** A cheaper statement that returns other rows whenever `sql` does. */
  digest?: string
  /** Set to run the statement without the settings that the product adds to its statements. */
  isBare?: true
}

const internalDatabases = "('system', 'INFORMATION_SCHEMA', 'information_schema')"
const ownTables = `database NOT IN ${internalDatabases} AND NOT is_temporary AND NOT startsWith(name, '.inner')`

/** Returns a list of grantees as text. */
const assigned = "if(apply_to_all, concat('ALL EXCEPT ', toString(apply_to_except)), toString(apply_to_list))"

const selectTables = (kind: string, condition: string): ObjectStatement => ({
  kind,
  requires: ['system.tables'],
  sql: `SELECT concat(database, '.', name), create_table_query, toUnixTimestamp(metadata_modification_time) FROM system.tables WHERE ${ownTables} AND ${condition}`,
  digest: `SELECT database, name, engine, toUnixTimestamp(metadata_modification_time) FROM system.tables WHERE ${ownTables} AND ${condition}`,
})

/** What is configured on a host, by kind. */
export const objectStatements: readonly ObjectStatement[] = [
  { kind: 'version', requires: [], sql: "SELECT 'server', version()" },
  {
    kind: 'setting',
    requires: ['system.settings'],
    isBare: true,
    sql: 'SELECT name, value FROM system.settings WHERE changed',
  },
  {
    kind: 'merge-tree-setting',
    requires: ['system.merge_tree_settings'],
    sql: 'SELECT name, value FROM system.merge_tree_settings WHERE changed',
  },
  {
    kind: 'server-setting',
    requires: ['system.server_settings'],
    sql: 'SELECT name, value FROM system.server_settings WHERE changed',
  },
  {
    kind: 'settings-profile',
    requires: ['system.settings_profile_elements'],
    sql: `SELECT coalesce(profile_name, concat('user ', user_name), concat('role ', role_name), '') AS holder,
  arrayStringConcat(arrayMap(element -> element.2, arraySort(groupArray((index, if(inherit_profile IS NOT NULL, concat('INHERIT ', inherit_profile), concat(ifNull(setting_name, ''), if(value IS NULL, '', concat(' = ', value)), if(min IS NULL, '', concat(' MIN ', min)), if(max IS NULL, '', concat(' MAX ', max)), if(writability IS NULL, '', concat(' ', toString(writability)))))))) ), '\\n')
FROM system.settings_profile_elements GROUP BY holder`,
  },
  {
    kind: 'database',
    requires: ['system.databases'],
    sql: "SELECT name, concat(engine, if(comment = '', '', concat(' COMMENT ', comment))) FROM system.databases WHERE name NOT IN ('INFORMATION_SCHEMA', 'information_schema')",
  },
  selectTables('table', "engine != 'Dictionary'"),
  selectTables('dictionary', "engine = 'Dictionary'"),
  {
    // Dictionaries of the configuration. Their source is unknown until they are loaded.
    kind: 'configured-dictionary',
    requires: ['system.dictionaries'],
    sql: "SELECT name, concat('KEY ', toString(arrayZip(key.names, key.types)), ' ATTRIBUTES ', toString(arrayZip(attribute.names, attribute.types))) FROM system.dictionaries WHERE database = ''",
  },
  {
    kind: 'function',
    requires: ['system.functions'],
    sql: "SELECT name, create_query FROM system.functions WHERE origin = 'SQLUserDefined'",
  },
  {
    // Newer versions list several ways to authenticate. The text does not depend on it, so that an upgrade is no change.
    kind: 'user',
    requires: ['system.users'],
    sql: "SELECT name, concat('auth ', replaceRegexpAll(toString(auth_type), '[^a-z0-9_,]', ''), '\\nhosts ', toString(arrayConcat(host_ip, host_names, host_names_regexp, host_names_like)), '\\nroles ', if(default_roles_all, concat('ALL EXCEPT ', toString(default_roles_except)), toString(default_roles_list)), '\\ndefault database ', default_database) FROM system.users",
  },
  { kind: 'role', requires: ['system.roles'], sql: 'SELECT name, storage FROM system.roles' },
  {
    kind: 'grants',
    requires: ['system.grants', 'system.role_grants'],
    sql: `SELECT holder, arrayStringConcat(arraySort(groupArray(entry)), '\\n') FROM (
  SELECT ifNull(user_name, concat('role ', role_name)) AS holder, concat(if(is_partial_revoke, 'REVOKE ', 'GRANT '), toString(access_type), ' ON ', ifNull(database, '*'), '.', ifNull(table, '*'), if(column IS NULL, '', concat('(', column, ')')), if(grant_option, ' WITH GRANT OPTION', '')) AS entry FROM system.grants
  UNION ALL
  SELECT ifNull(user_name, concat('role ', role_name)) AS holder, concat('GRANT ', granted_role_name, if(with_admin_option, ' WITH ADMIN OPTION', '')) AS entry FROM system.role_grants
) GROUP BY holder`,
  },
  {
    kind: 'quota',
    requires: ['system.quotas', 'system.quota_limits'],
    sql: `SELECT name, concat('keyed by ', toString(keys), '\\n', limits, if(limits = '', '', '\\n'), 'to ', ${assigned}) FROM system.quotas
LEFT JOIN (SELECT quota_name, arrayStringConcat(arraySort(groupArray(concat(toString(duration), ' s: ', formatRowNoNewline('JSONEachRow', max_queries, max_query_selects, max_query_inserts, max_errors, max_result_rows, max_result_bytes, max_read_rows, max_read_bytes, max_execution_time)))), '\\n') AS limits FROM system.quota_limits GROUP BY quota_name) AS parts ON quota_name = name`,
  },
  {
    kind: 'row-policy',
    requires: ['system.row_policies'],
    sql: `SELECT name, concat(if(is_restrictive, 'RESTRICTIVE ', 'PERMISSIVE '), ifNull(select_filter, ''), ' TO ', ${assigned}) FROM system.row_policies`,
  },
  {
    kind: 'cluster',
    requires: ['system.clusters'],
    sql: "SELECT cluster, arrayStringConcat(arraySort(groupArray(concat('shard ', toString(shard_num), ' replica ', toString(replica_num), ' ', host_name, ':', toString(port)))), '\\n') FROM system.clusters GROUP BY cluster",
  },
  { kind: 'macro', requires: ['system.macros'], sql: 'SELECT macro, substitution FROM system.macros' },
  {
    kind: 'disk',
    requires: ['system.disks'],
    sql: "SELECT name, concat(type, ' ', path, ' keep free ', toString(keep_free_space)) FROM system.disks",
  },
  {
    kind: 'storage-policy',
    requires: ['system.storage_policies'],
    sql: "SELECT policy_name, arrayStringConcat(arraySort(groupArray(concat(volume_name, ' ', toString(disks), ' move factor ', toString(move_factor)))), '\\n') FROM system.storage_policies GROUP BY policy_name",
  },
]

/** Returns a statement with the time and the uptime of a host, and a digest that changes with its objects. */
export const buildDigest = (statements: readonly ObjectStatement[]): string => {
  const hashes = statements.map(
    ({ sql, digest = sql }) => `toString((SELECT groupBitXor(cityHash64(*)) FROM (${digest})))`,
  )
  return `SELECT toUnixTimestamp(now()), toUnixTimestamp(now() - uptime()), concat('', ${hashes.join(', ')})`
}
