import { z } from 'zod'
import type { adviceDataMethods } from '#proto/advice-data.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { hostNumberSchema, readRecords } from '../analysis/read-records.ts'
import type { HostContext } from '../explorer/read-view.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { checkCallerStatement } from '../read-only/caller-statement.ts'
import { adviceLimits, maxAdviceSeconds } from './expression-sql.ts'
import { explainReads } from './statement-reads.ts'
import { tryIndex } from './hypothetical-index.ts'

const Row = z.object({ groups: hostNumberSchema, matchingGroups: hostNumberSchema, matchingRows: hostNumberSchema })

interface CountRequest {
  database: string
  table: string
  keys: string[]
  condition: string | null
}

/** Counts the groups of a table, and the groups and rows that a condition matches. */
const countGroups = async (
  { parts, host, call }: HostContext,
  { database, table, keys, condition }: CountRequest,
): Promise<z.output<typeof Row>> => {
  const sql = checkCallerStatement(`SELECT
  count() AS groups,
  countIf(matches > 0) AS matchingGroups,
  sumIf(counted, matches > 0) AS matchingRows
FROM (
  SELECT count() AS counted, countIf(ifNull(${condition ?? 1}, 0) != 0) AS matches
  FROM ${quoteName(database)}.${quoteName(table)}
  GROUP BY ${keys.join(', ')}
)`)
  const statement = {
    what: 'advice/groups',
    sql,
    limits: adviceLimits,
    maxSeconds: maxAdviceSeconds,
    cache: 'realtime' as const,
  }
  const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
  return row ?? { groups: 0, matchingGroups: 0, matchingRows: 0 }
}

/** Returns the handlers for statement advice. */
export const createAdviceHandlers = (parts: QueryHandlerDeps): ServiceHandlers<Service<typeof adviceDataMethods>> => {
  const contextFor = (hostKey: string, call: CallContext) => ({ parts, host: parts.hosts.get(hostKey), call })
  return {
    statementReads: ({ hostKey, ...request }, call) => explainReads(contextFor(hostKey, call), request),
    tryIndex: ({ hostKey, ...request }, call) => tryIndex(contextFor(hostKey, call), request),
    countMatches: ({ hostKey, ...request }, call) => countMatches(contextFor(hostKey, call), request),
    countGroups: ({ hostKey, ...request }, call) => countGroups(contextFor(hostKey, call), request),
  }
}

const MatchRow = z.object({
  rows: hostNumberSchema,
  matchingRows: hostNumberSchema,
  matchingGranules: hostNumberSchema,
})

interface Condition {
  database: string
  table: string
  condition: string
  rowsPerMark: number
}

/** Counts matching rows and granules; granules are assumed to have the average number of rows. */
const countMatches = async (
  { parts, host, call }: HostContext,
  { database, table, condition, rowsPerMark }: Condition,
): Promise<z.output<typeof MatchRow>> => {
  const sql = checkCallerStatement(`SELECT
  count() AS rows,
  countIf(matches) AS matchingRows,
  uniqExactIf((part, granule), matches) AS matchingGranules
FROM (
  SELECT ifNull(${condition}, 0) != 0 AS matches, _part AS part, intDiv(_part_offset, ${rowsPerMark}) AS granule
  FROM ${quoteName(database)}.${quoteName(table)}
)`)
  const statement = {
    what: 'advice/matches',
    sql,
    limits: adviceLimits,
    maxSeconds: maxAdviceSeconds,
    cache: 'realtime' as const,
  }
  const [row] = readRecords(host, MatchRow, await parts.client.run(host, statement, call))
  return row ?? { rows: 0, matchingRows: 0, matchingGranules: 0 }
}
