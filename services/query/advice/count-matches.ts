import { z } from 'zod'
import { quoteName } from '#shared/sql/quote.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Asking } from '../explorer/read-view.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import { limits, maxSeconds } from './limits.ts'

const Row = z.object({ rows: figure, matchingRows: figure, matchingGranules: figure })

interface Asked {
  database: string
  table: string
  condition: string
  rowsPerMark: number
}

/** Counts under a condition; granules are taken to have as many rows as they have on average. */
export const countMatches = async (
  { parts, host, call }: Asking,
  { database, table, condition, rowsPerMark }: Asked,
): Promise<z.output<typeof Row>> => {
  const sql = callersStatement(`SELECT
  count() AS rows,
  countIf(matches) AS matchingRows,
  uniqExactIf((part, granule), matches) AS matchingGranules
FROM (
  SELECT ifNull(${condition}, 0) != 0 AS matches, _part AS part, intDiv(_part_offset, ${rowsPerMark}) AS granule
  FROM ${quoteName(database)}.${quoteName(table)}
)`)
  const statement = { what: 'advice/matches', sql, limits, maxSeconds, cache: 'realtime' as const }
  const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
  return row ?? { rows: 0, matchingRows: 0, matchingGranules: 0 }
}
