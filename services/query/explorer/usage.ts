import { type TableUser, TableUser as UserRow, TableQueryRecord } from '#proto/explorer.ts'
import type { z } from 'zod'
import type { TableUsage } from '#proto/explorer.ts'
import { quoteName } from '#shared/sql/quote.ts'
import type { View } from './views.ts'

/** Characters of a statement in a list. */
const listedCharacters = 2_000

/** Looking at a definition is no use of a table. Logs write a name in quotes where it needs them. */
const usesTable = `log.type != 'QueryStart' AND log.is_initial_query AND log.query_kind NOT IN ('Show', 'Describe', 'Explain')
  AND (has(log.tables, {full_name:String}) OR has(log.tables, {quoted_name:String}))`

/** Values for the names in `usesTable`. */
export const loggedNames = (database: string, table: string): { full_name: string; quoted_name: string } => ({
  full_name: [database, table].join('.'),
  quoted_name: [database, table].map((name) => (/^[A-Za-z_]\w*$/.test(name) ? name : quoteName(name))).join('.'),
})

/** Of each user, since there are few of them. */
export const usage = {
  what: 'usage',
  requires: ['system.query_log'],
  limit: 1_000,
  sql: `SELECT
  toString(log.user) AS user,
  count() AS queries,
  countIf(log.query_kind = 'Select') AS reads,
  countIf(log.query_kind IN ('Insert', 'AsyncInsertFlush')) AS writes,
  countIf(log.type != 'QueryFinish') AS errors,
  countIf(log.event_time >= $until - INTERVAL 1 DAY) AS queriesLastDay,
  sum(log.query_duration_ms) AS totalMs,
  sum(log.read_rows) AS readRows,
  sum(log.read_bytes) AS readBytes,
  sum(log.written_rows) AS writtenRows,
  if(reads > 0, maxIf($ms(log.event_time), log.query_kind = 'Select'), NULL) AS lastReadMs,
  if(writes > 0, maxIf($ms(log.event_time), log.query_kind IN ('Insert', 'AsyncInsertFlush')), NULL) AS lastWriteMs
FROM $log(query_log) AS log
WHERE $window AND ${usesTable}
GROUP BY log.user
ORDER BY queries DESC, user`,
  row: UserRow,
} satisfies View<z.ZodType>

/** The latest of them. */
export const queries = {
  what: 'query-log',
  requires: ['system.query_log'],
  limit: 100,
  sql: `SELECT
  log.query_id AS queryId,
  toString(log.user) AS user,
  toString(log.query_kind) AS kind,
  toBool(log.type != 'QueryFinish') AS failed,
  $ms(log.event_time_microseconds) AS endedMs,
  log.query_duration_ms AS durationMs,
  log.read_rows AS readRows,
  log.read_bytes AS readBytes,
  log.written_rows AS writtenRows,
  log.memory_usage AS memoryBytes,
  substringUTF8(normalizeQuery(log.query), 1, ${listedCharacters}) AS query,
  toString(log.normalized_query_hash) AS fingerprint
FROM $log(query_log) AS log
WHERE $window AND ${usesTable}
ORDER BY endedMs DESC, queryId`,
  row: TableQueryRecord,
} satisfies View<z.ZodType>

/** All users together. */
export const totalUsage = (users: readonly TableUser[]): z.input<typeof TableUsage> => {
  const sum = (figure: (user: TableUser) => number): number => users.reduce((total, user) => total + figure(user), 0)
  const latest = (time: (user: TableUser) => number | null): number | null =>
    users.reduce<number | null>((last, user) => {
      const at = time(user)
      return at === null ? last : Math.max(at, last ?? at)
    }, null)
  return {
    queries: sum((user) => user.queries),
    reads: sum((user) => user.reads),
    writes: sum((user) => user.writes),
    errors: sum((user) => user.errors),
    queriesLastDay: sum((user) => user.queriesLastDay),
    totalMs: sum((user) => user.totalMs),
    readRows: sum((user) => user.readRows),
    readBytes: sum((user) => user.readBytes),
    writtenRows: sum((user) => user.writtenRows),
    lastReadMs: latest((user) => user.lastReadMs),
    lastWriteMs: latest((user) => user.lastWriteMs),
    users: [...users],
  }
}
