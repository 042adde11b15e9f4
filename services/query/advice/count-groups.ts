import { z } from 'zod'
import { quoteName } from '#shared/quote.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Asking } from '../explorer/read-view.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import { limits, maxSeconds } from './limits.ts'

const Row = z.object({ groups: figure, matchingGroups: figure, matchingRows: figure })

interface Asked {
  database: string
  table: string
  keys: string[]
  condition: string | null
}

/** Counts the groups of a table, and those that a condition touches with all their rows. */
export const countGroups = async (
  { parts, host, call }: Asking,
  { database, table, keys, condition }: Asked,
): Promise<z.output<typeof Row>> => {
  const sql = callersStatement(`SELECT
  count() AS groups,
  countIf(matches > 0) AS matchingGroups,
  sumIf(counted, matches > 0) AS matchingRows
FROM (
  SELECT count() AS counted, countIf(ifNull(${condition ?? 1}, 0) != 0) AS matches
  FROM ${quoteName(database)}.${quoteName(table)}
  GROUP BY ${keys.join(', ')}
)`)
  const statement = { what: 'advice/groups', sql, limits, maxSeconds, cache: 'realtime' as const }
  const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
  return row ?? { groups: 0, matchingGroups: 0, matchingRows: 0 }
}
