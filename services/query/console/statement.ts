import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { compareVersions } from '../definitions/version.ts'
import type { Allowed } from '../read-only/read-only.ts'
import { callersStatement } from '../read-only/callers-statement.ts'

/** What is asked of a run, its limits settled. */
export interface Asked {
  query: string
  database?: string | undefined
  parameters?: Readonly<Record<string, ParameterValue>> | undefined
  maxSeconds?: number | undefined
  purpose?: string | undefined
}

const maxMemoryBytes = 4 * 1024 * 1024 * 1024

/** Servers from then on dress a failure after the first rows as a row, unless told not to; newer ones do not by themselves. */
const failuresAsRows = '23.9'

/**
 * A caller's statement as it is sent; throws `invalid` unless it only reads. The setting `limit` bounds the outer SELECT
 * exactly and leaves its text alone; the one row more tells whether there are more. DESCRIBE does not obey it, and EXPLAIN
 * would tell of it as if the caller had written it.
 */
export const consoleStatement = (
  { query, database, parameters, maxSeconds, purpose }: Asked,
  maxRows: number,
  { version, ...allowed }: Allowed & { version: string },
): Statement => {
  let explains = false
  const sql = callersStatement(query, ([first]) => (explains = first?.word === 'EXPLAIN'), allowed)
  return {
    what: purpose ?? 'console',
    sql,
    limits: {
      ...(!explains && { limit: maxRows + 1 }),
      max_memory_usage: maxMemoryBytes,
      // Also for decimals and what is no number: JSON of the console loses nothing.
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      output_format_json_quote_denormals: 1,
      ...(compareVersions(version, failuresAsRows) >= 0 && { http_write_exception_in_output_format: 0 }),
    },
    ...(database !== undefined && { database }),
    ...(parameters !== undefined && { parameters }),
    ...(maxSeconds !== undefined && { maxSeconds }),
  }
}
