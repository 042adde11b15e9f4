import { z } from 'zod'
import { checkRequirements } from '../clickhouse/availability.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { maskSecrets, maskSetting } from './mask-secrets.ts'
import type { SourceContext } from './sources.ts'
import type { HistoryRow, HistoryStore } from './store.ts'
import { insertBatch, type Watermark } from './watermarks.ts'

/** How often all objects are read, even if the digest is the same: it covers tables and settings only. */
const snapshotSeconds = 3_600
/** Rows of unchanged objects are repeated before the retention of the oldest rows ends. */
const refreshSeconds = 30 * 86_400
const maxObjects = 20_000

/** What is configured on a host, by kind. Each statement returns the name and the definition of an object. */
const objectStatements: readonly { kind: string; requires: readonly string[]; sql: string; isBare?: true }[] = [
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
    kind: 'database',
    requires: ['system.databases'],
    sql: "SELECT name, concat(engine, if(comment = '', '', concat(' COMMENT ', comment))) FROM system.databases WHERE name NOT IN ('INFORMATION_SCHEMA', 'information_schema')",
  },
  {
    kind: 'table',
    requires: ['system.tables'],
    sql: "SELECT concat(database, '.', name), create_table_query FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') AND NOT is_temporary AND NOT startsWith(name, '.inner')",
  },
  {
    kind: 'user',
    requires: ['system.users'],
    sql: "SELECT name, concat('auth ', toString(auth_type), ' hosts ', toString(arrayConcat(host_ip, host_names)), ' roles ', toString(default_roles_list)) FROM system.users",
  },
  { kind: 'role', requires: ['system.roles'], sql: 'SELECT name, storage FROM system.roles' },
  {
    kind: 'grants',
    requires: ['system.grants'],
    sql: "SELECT ifNull(user_name, concat('role ', role_name)) AS holder, arrayStringConcat(arraySort(groupArray(concat(if(is_partial_revoke, 'REVOKE ', 'GRANT '), toString(access_type), ' ON ', ifNull(database, '*'), '.', ifNull(table, '*'), if(column IS NULL, '', concat('(', column, ')')), if(grant_option, ' WITH GRANT OPTION', '')))), '\\n') FROM system.grants GROUP BY holder",
  },
  {
    kind: 'quota',
    requires: ['system.quotas'],
    sql: "SELECT name, concat(toString(keys), ' ', toString(durations), ' ', toString(apply_to_list)) FROM system.quotas",
  },
  {
    kind: 'row-policy',
    requires: ['system.row_policies'],
    sql: "SELECT name, concat(ifNull(select_filter, ''), ' TO ', toString(apply_to_list)) FROM system.row_policies",
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

/** A cheap statement whose result changes with tables, settings and the version. */
const digestSql = `SELECT toUnixTimestamp(now()), toString(cityHash64(version(), uptime() < 120,
  (SELECT groupBitXor(cityHash64(database, name, engine, toUnixTimestamp(metadata_modification_time))) FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') AND NOT is_temporary),
  (SELECT groupBitXor(cityHash64(name, value)) FROM system.settings WHERE changed)))`

const DigestRows = z.tuple([z.tuple([z.number(), z.string()])])
const PairRows = z.array(z.tuple([z.string(), z.string()]))

/** The last digest of each host, so that an unchanged host costs one statement. */
const digests = new WeakMap<MonitoredHost, string>()

/** Records the objects of a host that changed since the last snapshot. Returns the number of recorded objects. */
export const recordObjects = async (
  history: HistoryStore,
  context: SourceContext,
  before: Watermark | undefined,
  recordedMs: number,
): Promise<number> => {
  const { host, client, call } = context
  const digestAnswer = await client.run(host, { what: 'history/objects', bare: true, sql: digestSql }, call)
  const [[now, digest]] = DigestRows.parse(digestAnswer.rows)
  const isDue = before === undefined || now - before.until >= snapshotSeconds || now < before.until
  if (!isDue && digests.get(host) === digest) return 0
  const { objects, kinds } = await readObjects(context)
  const known = await readKnownObjects(history, host.key)
  const rows = compareObjects(objects, known, kinds, now)
  const source = { name: 'objects', table: 'objects' } as const
  await insertBatch(history, { host: host.key, source, before, period: { from: now, until: now }, rows, recordedMs })
  digests.set(host, digest)
  return rows.length
}

type Objects = ReadonlyMap<string, string>
const objectKey = (kind: string, name: string): string => JSON.stringify([kind, name])

/** Reads all objects, and the kinds that the user may read completely. */
const readObjects = async (context: SourceContext): Promise<{ objects: Objects; kinds: ReadonlySet<string> }> => {
  const { client, host, call } = context
  const objects = new Map<string, string>()
  const kinds = new Set<string>()
  for (const { kind, requires, sql, isBare } of objectStatements) {
    if (await checkRequirements(client, host, { requires }, call)) continue
    const statement = { what: 'history/objects', sql: `${sql} LIMIT ${maxObjects}`, ...(isBare && { bare: isBare }) }
    const { rows } = await client.run(host, statement, call)
    kinds.add(kind)
    for (const [name, definition] of PairRows.parse(rows)) {
      const isSetting = kind.endsWith('setting')
      objects.set(objectKey(kind, name), isSetting ? maskSetting(name, definition) : maskSecrets(definition))
    }
  }
  return { objects, kinds }
}

const KnownObject = z.object({
  kind: z.string(),
  name: z.string(),
  last: z.string(),
  removed: z.number(),
  at: z.number(),
})
type KnownObject = z.infer<typeof KnownObject>

const readKnownObjects = (history: HistoryStore, host: string): Promise<KnownObject[]> =>
  history.select(
    `SELECT kind, name, argMax(definition, time) AS last, argMax(is_removed, time) AS removed, toUnixTimestamp(max(time)) AS at
FROM {table:objects} WHERE host = {host:String} AND kind != '' GROUP BY kind, name`,
    KnownObject,
    { host },
  )

/** Returns the rows of new, changed and removed objects. Kinds that could not be read are left as they are. */
const compareObjects = (
  objects: Objects,
  known: readonly KnownObject[],
  kinds: ReadonlySet<string>,
  time: number,
): HistoryRow[] => {
  const present = new Map(known.map((object) => [objectKey(object.kind, object.name), object]))
  const written = [...objects].flatMap(([key, definition]) => {
    const last = present.get(key)
    const isSame = last !== undefined && last.removed === 0 && last.last === definition
    if (isSame && time - last.at < refreshSeconds) return []
    const [kind, name]: unknown[] = JSON.parse(key)
    return [{ kind, name, time, definition, is_removed: 0 }]
  })
  const removed = known.flatMap(({ kind, name, removed: isRemoved }) =>
    isRemoved || objects.has(objectKey(kind, name)) || !kinds.has(kind)
      ? []
      : [{ kind, name, time, definition: '', is_removed: 1 }],
  )
  return [...written, ...removed]
}
