import type { RowSet } from './log-sets.ts'

const ofPeople = `database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')`

const changedSettings = ['settings', 'server_settings', 'merge_tree_settings'].map(
  (table) => `SELECT name, toString(cityHash64(value)) AS valueHash FROM system.${table} WHERE changed`,
)

/** What tables, replicas and statements are like at this moment. */
export const presentSets = {
  tables: {
    requires: ['system.parts'],
    sql: `SELECT database, table,
  sum(partsHere) AS parts,
  max(partsHere) AS partsInFullestPartition,
  sum(rowsHere) AS rows,
  sum(compressed) AS compressedBytes,
  sum(uncompressed) AS uncompressedBytes
FROM
(
  SELECT database, table, partition_id, count() AS partsHere, sum(rows) AS rowsHere,
    sum(data_compressed_bytes) AS compressed, sum(data_uncompressed_bytes) AS uncompressed
  FROM system.parts
  WHERE active AND ${ofPeople}
  GROUP BY database, table, partition_id
)
GROUP BY database, table
ORDER BY compressedBytes DESC, database, table
LIMIT 2000`,
  },
  'expired-parts': {
    requires: ['system.parts'],
    sql: `SELECT database, table,
  count() AS parts,
  max(dateDiff('hour', delete_ttl_info_max, now())) AS oldestHours,
  sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND ${ofPeople} AND delete_ttl_info_max > toDateTime(0) AND delete_ttl_info_max < now() - 86400
GROUP BY database, table
ORDER BY parts DESC, database, table
LIMIT 500`,
  },
  replicas: {
    requires: ['system.replicas'],
    sql: `SELECT database, table, is_readonly AS isReadonly, absolute_delay AS delaySeconds
FROM system.replicas
ORDER BY is_readonly DESC, absolute_delay DESC, database, table
LIMIT 500`,
  },
  'detached-parts': {
    requires: ['system.detached_parts'],
    sql: `SELECT database, table, count() AS parts
FROM system.detached_parts
WHERE ${ofPeople}
GROUP BY database, table
ORDER BY parts DESC, database, table
LIMIT 500`,
  },
  mutations: {
    requires: ['system.mutations'],
    sql: `SELECT database, table, mutation_id AS mutationId,
  dateDiff('second', create_time, now()) AS ageSeconds,
  parts_to_do AS partsToDo,
  latest_fail_reason != '' AS isFailing
FROM system.mutations
WHERE NOT is_done
ORDER BY create_time, database, table
LIMIT 500`,
  },
  'running-queries': {
    requires: ['system.processes'],
    sql: `SELECT toString(normalizedQueryHash(query)) AS hash, user, toString(query_kind) AS kind, elapsed AS elapsedSeconds
FROM system.processes
WHERE is_initial_query AND http_user_agent != 'watchhouse'
ORDER BY elapsed DESC
LIMIT 100`,
  },
  settings: {
    requires: ['system.settings', 'system.server_settings', 'system.merge_tree_settings'],
    bare: true,
    sql: `SELECT name, any(valueHash) AS valueHash FROM (${changedSettings.join(' UNION ALL ')}) GROUP BY name ORDER BY name LIMIT 1000`,
  },
  dictionaries: {
    requires: ['system.dictionaries'],
    sql: `SELECT database, name, toString(status) AS status, last_exception != '' AS isFailing
FROM system.dictionaries
ORDER BY database, name
LIMIT 500`,
  },
} satisfies Record<string, RowSet>
