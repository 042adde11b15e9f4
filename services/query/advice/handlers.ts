import { z } from 'zod'
import type { advisingMethods } from '#proto/advising.ts'
import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { quoteName } from '#shared/sql/quote.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Asking } from '../explorer/read-view.ts'
import type { Parts } from '../parts.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import { limits, maxSeconds } from './expression-sql.ts'
import { statementReads } from './statement-reads.ts'
import { tryIndex } from './try-index.ts'

const Row = z.object({ groups: figure, matchingGroups: figure, matchingRows: figure })

interface Asked {
  database: string
  table: string
  keys: string[]
  condition: string | null
}

/** Counts the groups of a table, and those that a condition touches with all their rows. */
const countGroups = async (
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

/** What advice is made of: analyses, counts, and indexes that exist for a session only. */
export const advisingHandlers = (parts: Parts): Handlers<Service<typeof advisingMethods>> => {
  const asking = (hostKey: string, call: Call) => ({ parts, host: parts.hosts.get(hostKey), call })
  return {
    statementReads: ({ hostKey, ...asked }, call) => statementReads(asking(hostKey, call), asked),
    tryIndex: ({ hostKey, ...asked }, call) => tryIndex(asking(hostKey, call), asked),
    countMatches: ({ hostKey, ...asked }, call) => countMatches(asking(hostKey, call), asked),
    countGroups: ({ hostKey, ...asked }, call) => countGroups(asking(hostKey, call), asked),
  }
}

const MatchRow = z.object({ rows: figure, matchingRows: figure, matchingGranules: figure })

interface Condition {
  database: string
  table: string
  condition: string
  rowsPerMark: number
}

/** Counts under a condition; granules are taken to have as many rows as they have on average. */
const countMatches = async (
  { parts, host, call }: Asking,
  { database, table, condition, rowsPerMark }: Condition,
): Promise<z.output<typeof MatchRow>> => {
  const sql = callersStatement(`SELECT
  count() AS rows,
  countIf(matches) AS matchingRows,
  uniqExactIf((part, granule), matches) AS matchingGranules
FROM (
  SELECT ifNull(${condition}, 0) != 0 AS matches, _part AS part, intDiv(_part_offset, ${rowsPerMark}) AS granule
  FROM ${quoteName(database)}.${quoteName(table)}
)`)
  const statement = { what: 'advice/matches', sql, limits, maxSeconds, cache: 'realtime' as const }
  const [row] = readRecords(host, MatchRow, await parts.client.run(host, statement, call))
  return row ?? { rows: 0, matchingRows: 0, matchingGranules: 0 }
}
