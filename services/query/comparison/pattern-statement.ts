import { z } from 'zod'
import { cpuMs, ended } from '../analysis/fingerprint-statement.ts'
import { figure } from '../analysis/records.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type Scope } from '../definitions/macros.ts'

const shownCharacters = 2_000

/** Patterns of what people and programs sent, costliest first; only those of `hashes` when some are given. */
export const patternStatement = (scope: Scope, limit: number, hashes?: readonly string[]): Statement => {
  const sql = `SELECT
  toString(normalized_query_hash) AS hash,
  substringUTF8(normalizeQuery(any(log.query)), 1, ${shownCharacters}) AS query,
  any(toString(query_kind)) AS kind,
  count() AS calls,
  sum(query_duration_ms) AS totalMs,
  avg(query_duration_ms) AS averageMs,
  quantile(0.95)(query_duration_ms) AS p95Ms,
  countIf(log.type != 'QueryFinish') AS errors,
  sum(${cpuMs}) AS cpuMs,
  sum(log.read_rows) AS readRows,
  sum(log.read_bytes) AS readBytes,
  max(memory_usage) AS peakMemoryBytes
FROM $log(query_log) AS log
WHERE $window AND ${ended} AND NOT $own${hashes ? ' AND normalized_query_hash IN {hashes:Array(UInt64)}' : ''}
GROUP BY normalized_query_hash
ORDER BY totalMs DESC, hash
LIMIT ${limit}`
  const parameters: Statement['parameters'] = hashes ? { hashes: `[${hashes.join(',')}]` } : {}
  return { what: 'comparison', cache: 'realtime', sql: expandMacros(sql, scope), parameters }
}

/** One row of it. */
export const PatternRow = z.object({
  hash: z.string(),
  query: z.string(),
  kind: z.string(),
  calls: figure,
  totalMs: figure,
  averageMs: z.number(),
  p95Ms: z.number(),
  errors: figure,
  cpuMs: z.number(),
  readRows: figure,
  readBytes: figure,
  peakMemoryBytes: figure,
})
export type PatternRow = z.output<typeof PatternRow>
