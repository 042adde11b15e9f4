import { z } from 'zod'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { postgresSourceMethods } from '#proto/postgres-source.ts'
import { PostgresTable, type postgresTableOrders } from '#proto/postgres-statistics.ts'
import { readSessions, buildEpochMsSql } from './sessions.ts'
import { readFailureReason } from './failure.ts'
import { readLocks } from './locks.ts'
import { readReplicationState, readSourceStatus } from './status.ts'
import type { PostgresSource } from './source.ts'
import { readStatementPatterns } from './statements.ts'

interface PostgresRequest {
  order: (typeof postgresTableOrders)[number]
  search?: string | undefined
  limit: number
}

type Sizes = 'measured' | 'estimated'

const orders: Readonly<Record<PostgresRequest['order'], string>> = {
  size: 'pages.total',
  dead_rows: 's.n_dead_tup',
  sequential_reads: 's.seq_tup_read',
  writes: 's.n_tup_ins + s.n_tup_upd + s.n_tup_del',
  age: 'age(c.relfrozenxid)',
}

/**
 * Reads tables with their statistics. Measuring a size needs a weak lock, which DDL on the table can block. If so, the
 * sizes are estimates from the last VACUUM or ANALYZE.
 */
const readTables = async (source: PostgresSource, request: PostgresRequest) => {
  try {
    return await readSized(source, request, 'measured')
  } catch (error) {
    if (readFailureReason(error) !== 'locked') throw error
    return readSized(source, request, 'estimated')
  }
}

const readSized = (source: PostgresSource, { order, search, limit }: PostgresRequest, sizes: Sizes) =>
  source.read(async (runQuery) => {
    const tables = await runQuery(PostgresTable, tablesSql(order, sizes), [search ?? '', limit + 1])
    const [{ database }] = z
      .tuple([Connected])
      .parse(await runQuery(Connected, 'SELECT current_database() AS database'))
    return { tables: tables.slice(0, limit), truncated: tables.length > limit, database, sizes }
  })

const Connected = z.object({ database: z.string() })

const sizeColumns: Readonly<Record<Sizes, string>> = {
  measured: 'pg_total_relation_size(relid)::float8 AS "totalBytes", pg_indexes_size(relid)::float8 AS "indexBytes"',
  estimated: 'total_pages * block.bytes AS "totalBytes", index_pages * block.bytes AS "indexBytes"',
}

/** Measures only the returned tables, because measuring reads the size of each file. */
const tablesSql = (order: PostgresRequest['order'], sizes: Sizes): string => `WITH picked AS MATERIALIZED (
  SELECT s.*, c.relfrozenxid, pages.total AS total_pages, pages.indexes AS index_pages, ${orders[order]} AS place
  FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid
  CROSS JOIN LATERAL (
    SELECT sum(i.relpages)::float8 AS indexes FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid WHERE x.indrelid = c.oid
  ) AS own
  CROSS JOIN LATERAL (
    SELECT coalesce(own.indexes, 0) AS indexes,
      c.relpages + coalesce(own.indexes, 0) + coalesce((SELECT relpages FROM pg_class AS t WHERE t.oid = c.reltoastrelid), 0) AS total
  ) AS pages
  WHERE c.relkind <> 'p' AND strpos(lower(s.schemaname || '.' || s.relname), lower($1)) > 0
  ORDER BY place DESC, s.relid
  LIMIT $2
), block AS (
  SELECT current_setting('block_size')::float8 AS bytes
)
SELECT picked.schemaname AS schema, picked.relname AS table, ${sizeColumns[sizes]},
  n_live_tup::float8 AS rows, n_dead_tup::float8 AS "deadRows", seq_scan::float8 AS "sequentialScans",
  seq_tup_read::float8 AS "sequentialRows", idx_scan::float8 AS "indexScans",
  n_tup_ins::float8 AS inserted, n_tup_upd::float8 AS updated, n_tup_del::float8 AS deleted,
  n_tup_hot_upd::float8 / nullif(n_tup_upd, 0) AS "hotUpdateShare",
  io.hits / nullif(io.hits + io.reads, 0) AS "cacheHitShare", n_mod_since_analyze::float8 AS "modifiedSinceAnalyze",
  ${buildEpochMsSql('greatest(last_vacuum, last_autovacuum)')} AS "vacuumedMs",
  ${buildEpochMsSql('greatest(last_analyze, last_autoanalyze)')} AS "analyzedMs",
  age(relfrozenxid)::float8 / current_setting('autovacuum_freeze_max_age')::float8 AS "freezeShare"
FROM picked CROSS JOIN block
LEFT JOIN LATERAL (
  SELECT (heap_blks_hit + coalesce(idx_blks_hit, 0) + coalesce(toast_blks_hit, 0))::float8 AS hits,
    (heap_blks_read + coalesce(idx_blks_read, 0) + coalesce(toast_blks_read, 0))::float8 AS reads
  FROM pg_statio_user_tables WHERE relid = picked.relid
) AS io ON true
ORDER BY ${order === 'size' ? '"totalBytes"' : 'place'} DESC, schema, picked.relname`

export interface PostgresSourceDeps {
  postgresSource: PostgresSource
}

/** Returns the handlers for the PostgreSQL source. */
export const createPostgresSourceHandlers = ({
  postgresSource: source,
}: PostgresSourceDeps): ServiceHandlers<Service<typeof postgresSourceMethods>> => ({
  postgresOffered: async () => ({ isOffered: source.isOffered }),
  postgresStatus: () => readSourceStatus(source),
  postgresActivity: (request) => readSessions(source, request),
  postgresStatements: (request) => readStatementPatterns(source, request),
  postgresTables: (request) => readTables(source, request),
  postgresReplication: () => readReplicationState(source),
  postgresLocks: ({ withValues }) => readLocks(source, withValues),
})
