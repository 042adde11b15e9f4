import type { Statement } from '../clickhouse/statement.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'

/** What is asked of a run, its limits settled. */
export interface Asked {
  query: string
  database?: string | undefined
  parameters?: Readonly<Record<string, ParameterValue>> | undefined
  maxSeconds?: number | undefined
  purpose?: string | undefined
}

const maxMemoryBytes = 4 * 1024 * 1024 * 1024

/**
 * A caller's statement as it is sent; throws `invalid` unless it only reads. The setting `limit` bounds the outer SELECT
 * exactly and leaves its text alone; the one row more tells whether there are more. EXPLAIN and DESCRIBE do not obey it.
 */
export const consoleStatement = (
  { query, database, parameters, maxSeconds, purpose }: Asked,
  maxRows: number,
): Statement => ({
  what: purpose ?? 'console',
  sql: callersStatement(query),
  limits: {
    limit: maxRows + 1,
    max_memory_usage: maxMemoryBytes,
    // Also for decimals and what is no number: JSON of the console loses nothing.
    output_format_json_quote_64bit_integers: 1,
    output_format_json_quote_decimals: 1,
    output_format_json_quote_denormals: 1,
  },
  ...(database !== undefined && { database }),
  ...(parameters !== undefined && { parameters }),
  ...(maxSeconds !== undefined && { maxSeconds }),
})
