import type { PostgresSession } from '#proto/postgres-sessions.ts'
import type { PostgresStatement, PostgresTable } from '#proto/postgres-statistics.ts'
import { createColumn } from '#lib/table/columns.ts'

/** Columns of the session list. */
export const sessionColumns = [
  createColumn('pid', 'Process', 'code'),
  createColumn('state', 'State'),
  createColumn('transactionMs', 'Transaction', 'duration-ms', { doc: 'Time since the transaction started.' }),
  createColumn('statementMs', 'Statement time', 'duration-ms'),
  createColumn('wait', 'Waiting for', 'text', { doc: 'Wait event type and wait event.' }),
  createColumn('query', 'Statement', 'query'),
  createColumn('application', 'Application'),
  createColumn('user', 'User'),
  createColumn('database', 'Database'),
  createColumn('address', 'From', 'code'),
]

export const toSessionRow = (session: PostgresSession) => ({
  ...session,
  state: session.state ?? session.type,
  wait: [session.waitType, session.waitEvent].filter(Boolean).join(': '),
})

/** Columns of the statement list, with the API sort order of each. */
export const statementColumns = [
  { column: createColumn('query', 'Statement', 'query'), order: null },
  { column: createColumn('share', 'Share of time', 'percent', { bar: true }), order: 'total_time' },
  { column: createColumn('calls', 'Calls', 'number'), order: 'calls' },
  { column: createColumn('totalMs', 'Total', 'duration-ms'), order: 'total_time' },
  { column: createColumn('meanMs', 'Mean', 'duration-ms'), order: 'mean' },
  { column: createColumn('longestMs', 'Longest', 'duration-ms'), order: 'longest' },
  { column: createColumn('rows', 'Rows', 'rows'), order: 'rows' },
  {
    column: createColumn('cacheHitShare', 'Cache hits', 'percent', { doc: 'Share of pages found in shared buffers.' }),
    order: null,
  },
  { column: createColumn('readBytes', 'Read', 'bytes', { doc: 'Read outside of shared buffers.' }), order: 'read' },
  { column: createColumn('tempBytes', 'Temporary', 'bytes'), order: 'temp' },
  { column: createColumn('walBytes', 'WAL', 'bytes'), order: 'wal' },
  { column: createColumn('user', 'User'), order: null },
  { column: createColumn('database', 'Database'), order: null },
] as const

export const toStatementRow = (statement: PostgresStatement) => ({
  ...statement,
  share: percent(statement.share),
  cacheHitShare: percent(statement.cacheHitShare),
})

/** Columns of the table list. */
export const tableColumns = [
  { column: createColumn('name', 'Table', 'code'), order: null },
  { column: createColumn('totalBytes', 'Size', 'bytes', { bar: true, doc: 'Including indexes.' }), order: 'size' },
  { column: createColumn('indexBytes', 'Indexes', 'bytes'), order: null },
  { column: createColumn('rows', 'Rows', 'rows', { doc: 'Estimated by the server.' }), order: null },
  { column: createColumn('deadRows', 'Dead rows', 'rows'), order: 'dead_rows' },
  { column: createColumn('sequentialScans', 'Sequential scans', 'number'), order: null },
  { column: createColumn('sequentialRows', 'Rows from sequential scans', 'rows'), order: 'sequential_reads' },
  { column: createColumn('indexScans', 'Index scans', 'number'), order: null },
  {
    column: createColumn('writes', 'Rows written', 'rows', { doc: 'Inserted, updated and deleted rows.' }),
    order: 'writes',
  },
  { column: createColumn('cacheHitShare', 'Cache hits', 'percent'), order: null },
  { column: createColumn('vacuumedMs', 'Vacuumed', 'relative-time'), order: null },
  { column: createColumn('analyzedMs', 'Analyzed', 'relative-time'), order: null },
  {
    column: createColumn('freezeShare', 'Freeze age', 'percent', {
      bar: true,
      doc: 'Age relative to the transaction count at which the server must freeze rows.',
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

/** Columns with the API sort order of each. Null means that users cannot sort by the column. */
export type SortableColumns = readonly { column: ReturnType<typeof createColumn>; order: string | null }[]

/** Returns the requested sort order if a column has it; otherwise the default. */
export const readSortOrder = <Order extends string>(
  columns: readonly { order: Order | null }[],
  requested: string | null,
  defaultOrder: Order,
): Order => columns.find(({ order }) => order !== null && order === requested)?.order ?? defaultOrder

/** Columns of the standby list. */
export const standbyColumns = [
  createColumn('application', 'Application'),
  createColumn('address', 'Address', 'code'),
  createColumn('state', 'State'),
  createColumn('syncState', 'Synchronous'),
  createColumn('sentLagBytes', 'Unsent', 'bytes'),
  createColumn('flushLagBytes', 'Unflushed', 'bytes'),
  createColumn('replayLagBytes', 'Unreplayed', 'bytes', { bar: true }),
  createColumn('replayLagMs', 'Replay lag', 'duration-ms'),
  createColumn('user', 'User'),
  createColumn('pid', 'Process', 'code'),
]
export const slotColumns = [
  createColumn('name', 'Slot', 'code'),
  createColumn('type', 'Type'),
  createColumn('isActive', 'Active', 'boolean', { doc: 'Whether a consumer is connected.' }),
  createColumn('retainedBytes', 'Retained WAL', 'bytes', { bar: true }),
  createColumn('unconfirmedBytes', 'Unconfirmed', 'bytes'),
  createColumn('walStatus', 'WAL status'),
  createColumn('safeBytes', 'Safe WAL size', 'bytes', {
    doc: 'WAL that can be written before the slot is lost; empty without a limit.',
  }),
  createColumn('database', 'Database'),
  createColumn('plugin', 'Plugin', 'code'),
]
export const subscriptionColumns = [
  createColumn('name', 'Subscription', 'code'),
  createColumn('isRunning', 'Running', 'boolean'),
  createColumn('lastMessageMs', 'Last message', 'relative-time'),
  createColumn('lastReportedMs', 'Last position', 'relative-time'),
]
