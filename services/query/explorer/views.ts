import type { z } from 'zod'
import {
  ExplorerColumn,
  ExplorerDatabase,
  ExplorerPart,
  ExplorerTable,
  Projection,
  SkipIndex,
  TableOverview,
} from '#proto/explorer.ts'

/** A query of the explorer with its tables, SQL and row schema. */
export interface ExplorerQuery<S extends z.ZodType> {
  what: string
  requires: readonly string[]
  sql: string
  row: S
  /** Maximum number of rows; further rows are truncated. */
  limit: number
}

const ofTable = (alias: string): string => `${alias}.database = {database:String} AND ${alias}.table = {table:String}`

const kind = `multiIf(
    described.engine = 'MaterializedView', 'materialized-view',
    endsWith(described.engine, 'View'), 'view',
    described.engine = 'Dictionary', 'dictionary',
    'table')`

const tableColumns = `
  described.name AS name,
  ${kind} AS kind,
  described.engine AS engine,
  described.comment AS comment,
  described.total_rows AS rows,
  described.total_bytes AS bytes,
  $ms(described.metadata_modification_time) AS changedMs`

export const databasesView = {
  what: 'databases',
  requires: ['system.databases', 'system.tables'],
  limit: 10_000,
  sql: `SELECT
  described.name AS name,
  described.engine AS engine,
  described.comment AS comment,
  toString(described.uuid) AS uuid,
  toBool(described.name IN ('system', 'INFORMATION_SCHEMA', 'information_schema')) AS isSystem,
  ifNull(counted.tables, 0) AS tables,
  ifNull(counted.views, 0) AS views,
  ifNull(counted.dictionaries, 0) AS dictionaries,
  ifNull(counted.stored_rows, 0) AS rows,
  ifNull(counted.stored_bytes, 0) AS bytes
FROM system.databases AS described
LEFT JOIN
(
  SELECT
    listed.database AS database,
    countIf(NOT endsWith(listed.engine, 'View') AND listed.engine != 'Dictionary') AS tables,
    countIf(endsWith(listed.engine, 'View')) AS views,
    countIf(listed.engine = 'Dictionary') AS dictionaries,
    sum(listed.total_rows) AS stored_rows,
    sum(listed.total_bytes) AS stored_bytes
  FROM system.tables AS listed
  WHERE NOT listed.is_temporary
  GROUP BY listed.database
) AS counted ON counted.database = described.name
ORDER BY described.name`,
  row: ExplorerDatabase,
} satisfies ExplorerQuery<z.ZodType>

export const tablesView = {
  what: 'tables',
  requires: ['system.tables'],
  limit: 10_000,
  sql: `SELECT${tableColumns}
FROM system.tables AS described
WHERE described.database = {database:String} AND NOT described.is_temporary
  AND positionCaseInsensitiveUTF8(described.name, {search:String}) > 0
ORDER BY described.name`,
  row: ExplorerTable,
} satisfies ExplorerQuery<z.ZodType>

export const tableView = {
  what: 'table',
  requires: ['system.tables', 'system.parts'],
  limit: 1,
  sql: `SELECT${tableColumns},
  described.engine_full AS engineFull,
  described.partition_key AS partitionKey,
  described.sorting_key AS sortingKey,
  described.primary_key AS primaryKey,
  described.sampling_key AS samplingKey,
  toString(described.uuid) AS uuid,
  described.storage_policy AS storagePolicy,
  stored.parts AS parts,
  stored.partitions AS partitions,
  stored.compressed AS compressedBytes,
  stored.uncompressed AS uncompressedBytes,
  stored.on_disk AS bytesOnDisk,
  stored.all_marks AS marks,
  stored.key_bytes AS primaryKeyBytes,
  stored.key_allocated AS primaryKeyAllocatedBytes,
  stored.disks AS disks,
  if(stored.parts > 0, $ms(stored.modified), NULL) AS modifiedMs
FROM system.tables AS described
CROSS JOIN
(
  SELECT
    count() AS parts,
    uniqExact(part.partition_id) AS partitions,
    sum(part.data_compressed_bytes) AS compressed,
    sum(part.data_uncompressed_bytes) AS uncompressed,
    sum(part.bytes_on_disk) AS on_disk,
    sum(part.marks) AS all_marks,
    sum(part.primary_key_bytes_in_memory) AS key_bytes,
    sum(part.primary_key_bytes_in_memory_allocated) AS key_allocated,
    arraySort(groupUniqArray(part.disk_name)) AS disks,
    max(part.modification_time) AS modified
  FROM system.parts AS part
  WHERE ${ofTable('part')} AND part.active
) AS stored
WHERE described.database = {database:String} AND described.name = {table:String}`,
  row: TableOverview,
} satisfies ExplorerQuery<z.ZodType>

export const columnsView = {
  what: 'columns',
  requires: ['system.columns'],
  limit: 20_000,
  sql: `SELECT
  described.name AS name,
  described.position AS position,
  described.type AS type,
  described.default_kind AS defaultKind,
  described.default_expression AS defaultExpression,
  described.comment AS comment,
  described.compression_codec AS codec,
  nullIf(described.data_compressed_bytes, 0) AS compressedBytes,
  nullIf(described.data_uncompressed_bytes, 0) AS uncompressedBytes,
  nullIf(described.marks_bytes, 0) AS marksBytes,
  uncompressedBytes / compressedBytes AS ratio,
  toBool(described.is_in_partition_key) AS isInPartitionKey,
  toBool(described.is_in_sorting_key) AS isInSortingKey,
  toBool(described.is_in_primary_key) AS isInPrimaryKey,
  toBool(described.is_in_sampling_key) AS isInSamplingKey
FROM system.columns AS described
WHERE ${ofTable('described')}
ORDER BY described.position`,
  row: ExplorerColumn,
} satisfies ExplorerQuery<z.ZodType>

/** Older servers, such as 24.8, call the size of the marks `marks` instead of `marks_bytes`. */
export const skipIndexesView = {
  what: 'skip-indexes',
  requires: ['system.data_skipping_indices'],
  limit: 1_000,
  sql: `SELECT
  skipping.name AS name,
  skipping.type AS type,
  skipping.type_full AS typeFull,
  skipping.expr AS expression,
  skipping.granularity AS granularity,
  skipping.data_compressed_bytes AS compressedBytes,
  skipping.data_uncompressed_bytes AS uncompressedBytes,
  [COLUMNS('^marks(_bytes)?$')][1] AS marksBytes
FROM system.data_skipping_indices AS skipping
WHERE ${ofTable('skipping')}
ORDER BY skipping.name`,
  row: SkipIndex,
} satisfies ExplorerQuery<z.ZodType>

const storedProjections = `SELECT
    part.name AS name,
    count() AS parts,
    sum(part.rows) AS stored_rows,
    sum(part.data_compressed_bytes) AS compressed,
    sum(part.data_uncompressed_bytes) AS uncompressed
  FROM system.projection_parts AS part
  WHERE ${ofTable('part')} AND part.active
  GROUP BY part.name`

/** Lists the projections of a table, including empty ones, which only `system.projections` lists. */
export const projectionsView = {
  what: 'projections',
  requires: ['system.projection_parts', 'system.projections'],
  limit: 1_000,
  sql: `SELECT
  described.name AS name,
  toString(described.type) AS type,
  described.query AS definition,
  ifNull(stored.parts, 0) AS parts,
  ifNull(stored.stored_rows, 0) AS rows,
  ifNull(stored.compressed, 0) AS compressedBytes,
  ifNull(stored.uncompressed, 0) AS uncompressedBytes
FROM system.projections AS described
LEFT JOIN
(
  ${storedProjections}
) AS stored ON stored.name = described.name
WHERE ${ofTable('described')}
ORDER BY described.name`,
  row: Projection,
} satisfies ExplorerQuery<z.ZodType>

/** Lists the projections on servers without `system.projections`. */
export const partProjectionsView = {
  ...projectionsView,
  requires: ['system.projection_parts'],
  sql: `SELECT
  stored.name AS name,
  NULL AS type,
  NULL AS definition,
  stored.parts AS parts,
  stored.stored_rows AS rows,
  stored.compressed AS compressedBytes,
  stored.uncompressed AS uncompressedBytes
FROM
(
  ${storedProjections}
) AS stored
ORDER BY stored.name`,
} satisfies ExplorerQuery<z.ZodType>

export const partsView = {
  what: 'parts',
  requires: ['system.parts'],
  limit: 1_000,
  sql: `SELECT
  part.name AS name,
  part.partition AS partition,
  toBool(part.active) AS active,
  part.part_type AS type,
  part.level AS level,
  part.rows AS rows,
  part.data_compressed_bytes AS compressedBytes,
  part.data_uncompressed_bytes AS uncompressedBytes,
  part.bytes_on_disk AS bytesOnDisk,
  part.marks AS marks,
  part.primary_key_bytes_in_memory AS primaryKeyBytes,
  part.disk_name AS disk,
  $ms(part.modification_time) AS modifiedMs
FROM system.parts AS part
WHERE ${ofTable('part')} AND (part.active OR {inactive:Bool})
ORDER BY part.bytes_on_disk DESC, part.name`,
  row: ExplorerPart,
} satisfies ExplorerQuery<z.ZodType>
