import type { PostgresSession } from '#proto/postgres-sessions.ts'
import type { PostgresStatement, PostgresTable } from '#proto/postgres-statistics.ts'
import { column } from '#lib/table/columns.ts'

/** What sessions are told with. */
export const sessionColumns = [
  column('pid', 'Process', 'code'),
  column('state', 'State'),
  column('transactionMs', 'Transaction', 'duration-ms', { doc: 'Since its transaction began.' }),
  column('statementMs', 'Statement runs', 'duration-ms'),
  column('wait', 'Waits for', 'text', { doc: 'Kind of wait and its event, as the server names them.' }),
  column('query', 'Statement', 'query'),
  column('application', 'Application'),
  column('user', 'User'),
  column('database', 'Database'),
  column('address', 'From', 'code'),
]

export const toSessionRow = (session: PostgresSession) => ({
  ...session,
  state: session.state ?? session.type,
  wait: [session.waitType, session.waitEvent].filter(Boolean).join(': '),
})

/** The columns of a list that the API orders, each with the order that its head asks for. */
export const statementColumns = [
  { column: column('query', 'Statement', 'query'), order: null },
  { column: column('share', 'Share of time', 'percent', { bar: true }), order: 'total_time' },
  { column: column('calls', 'Calls', 'number'), order: 'calls' },
  { column: column('totalMs', 'Total', 'duration-ms'), order: 'total_time' },
  { column: column('meanMs', 'Mean', 'duration-ms'), order: 'mean' },
  { column: column('longestMs', 'Longest', 'duration-ms'), order: 'longest' },
  { column: column('rows', 'Rows', 'rows'), order: 'rows' },
  { column: column('cacheHitShare', 'From cache', 'percent', { doc: 'Of the pages it needed.' }), order: null },
  { column: column('readBytes', 'Read', 'bytes', { doc: 'From beyond the cache of the server.' }), order: 'read' },
  { column: column('tempBytes', 'Temporary', 'bytes'), order: 'temp' },
  { column: column('walBytes', 'WAL', 'bytes'), order: 'wal' },
  { column: column('user', 'User'), order: null },
  { column: column('database', 'Database'), order: null },
] as const

export const toStatementRow = (statement: PostgresStatement) => ({
  ...statement,
  share: percent(statement.share),
  cacheHitShare: percent(statement.cacheHitShare),
})

/** The same for tables. */
export const tableColumns = [
  { column: column('name', 'Table', 'code'), order: null },
  { column: column('totalBytes', 'Size', 'bytes', { bar: true, doc: 'With its indexes.' }), order: 'size' },
  { column: column('indexBytes', 'Indexes', 'bytes'), order: null },
  { column: column('rows', 'Rows', 'rows', { doc: 'As the server estimates.' }), order: null },
  { column: column('deadRows', 'Dead rows', 'rows'), order: 'dead_rows' },
  { column: column('sequentialScans', 'Sequential scans', 'number'), order: null },
  { column: column('sequentialRows', 'Rows they read', 'rows'), order: 'sequential_reads' },
  { column: column('indexScans', 'Index scans', 'number'), order: null },
  { column: column('writes', 'Rows written', 'rows', { doc: 'Inserted, updated and deleted.' }), order: 'writes' },
  { column: column('cacheHitShare', 'From cache', 'percent'), order: null },
  { column: column('vacuumedMs', 'Vacuumed', 'relative-time'), order: null },
  { column: column('analyzedMs', 'Analyzed', 'relative-time'), order: null },
  {
    column: column('freezeShare', 'To freeze', 'percent', {
      bar: true,
      doc: 'Of the transactions after which the server must freeze its rows, those that have passed.',
    }),
    order: 'age',
  },
] as const

export const toTableRow = (table: PostgresTable) => ({
  ...table,
  name: `${table.schema}.${table.table}`,
  writes: table.inserted + table.updated + table.deleted,
  cacheHitShare: percent(table.cacheHitShare),
  freezeShare: percent(table.freezeShare),
})

const percent = (share: number | null): number | null => (share === null ? null : share * 100)

/** Columns with the order that each asks for. */
export type Ordered = readonly { column: ReturnType<typeof column>; order: string | null }[]

/** The order that the URL asks for; the usual for what is none. */
export const readOrder = <Order extends string>(
  columns: readonly { order: Order | null }[],
  given: string | null,
  usual: Order,
): Order => columns.find(({ order }) => order !== null && order === given)?.order ?? usual

/** What replication is told with. */
export const standbyColumns = [
  column('application', 'Application'),
  column('address', 'Address', 'code'),
  column('state', 'State'),
  column('syncState', 'Synchronous'),
  column('sentLagBytes', 'Not sent', 'bytes'),
  column('flushLagBytes', 'Not flushed', 'bytes'),
  column('replayLagBytes', 'Not replayed', 'bytes', { bar: true }),
  column('replayLagMs', 'Replay lag', 'duration-ms'),
  column('user', 'User'),
  column('pid', 'Process', 'code'),
]
export const slotColumns = [
  column('name', 'Slot', 'code'),
  column('type', 'Type'),
  column('isActive', 'Is read', 'boolean', { doc: 'Whether somebody reads it now.' }),
  column('retainedBytes', 'WAL kept', 'bytes', { bar: true }),
  column('unconfirmedBytes', 'Not confirmed', 'bytes'),
  column('walStatus', 'WAL status'),
  column('safeBytes', 'Until it is lost', 'bytes', {
    doc: 'WAL that may still be written; empty where nothing bounds it.',
  }),
  column('database', 'Database'),
  column('plugin', 'Plugin', 'code'),
]
export const subscriptionColumns = [
  column('name', 'Subscription', 'code'),
  column('isRunning', 'Runs', 'boolean'),
  column('lastMessageMs', 'Last message', 'relative-time'),
  column('lastReportedMs', 'Last position', 'relative-time'),
]
