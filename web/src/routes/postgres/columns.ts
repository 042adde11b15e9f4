import type { PostgresSession } from '#proto/postgres-sessions.ts'
import type { PostgresStatement, PostgresTable } from '#proto/postgres-statistics.ts'
import { column } from '#lib/table/columns.ts'

/** Columns of the session list. */
export const sessionColumns = [
  column('pid', 'Process', 'code'),
  column('state', 'State'),
  column('transactionMs', 'Transaction', 'duration-ms', { doc: 'Time since the transaction started.' }),
  column('statementMs', 'Statement time', 'duration-ms'),
  column('wait', 'Waiting for', 'text', { doc: 'Wait event type and wait event.' }),
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

/** Columns of the statement list, with the API sort order of each. */
export const statementColumns = [
  { column: column('query', 'Statement', 'query'), order: null },
  { column: column('share', 'Share of time', 'percent', { bar: true }), order: 'total_time' },
  { column: column('calls', 'Calls', 'number'), order: 'calls' },
  { column: column('totalMs', 'Total', 'duration-ms'), order: 'total_time' },
  { column: column('meanMs', 'Mean', 'duration-ms'), order: 'mean' },
  { column: column('longestMs', 'Longest', 'duration-ms'), order: 'longest' },
  { column: column('rows', 'Rows', 'rows'), order: 'rows' },
  {
    column: column('cacheHitShare', 'Cache hits', 'percent', { doc: 'Share of pages found in shared buffers.' }),
    order: null,
  },
  { column: column('readBytes', 'Read', 'bytes', { doc: 'Read outside of shared buffers.' }), order: 'read' },
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

/** Columns of the table list. */
export const tableColumns = [
  { column: column('name', 'Table', 'code'), order: null },
  { column: column('totalBytes', 'Size', 'bytes', { bar: true, doc: 'Including indexes.' }), order: 'size' },
  { column: column('indexBytes', 'Indexes', 'bytes'), order: null },
  { column: column('rows', 'Rows', 'rows', { doc: 'Estimate of the server.' }), order: null },
  { column: column('deadRows', 'Dead rows', 'rows'), order: 'dead_rows' },
  { column: column('sequentialScans', 'Sequential scans', 'number'), order: null },
  { column: column('sequentialRows', 'Rows from sequential scans', 'rows'), order: 'sequential_reads' },
  { column: column('indexScans', 'Index scans', 'number'), order: null },
  { column: column('writes', 'Rows written', 'rows', { doc: 'Inserted, updated and deleted rows.' }), order: 'writes' },
  { column: column('cacheHitShare', 'Cache hits', 'percent'), order: null },
  { column: column('vacuumedMs', 'Vacuumed', 'relative-time'), order: null },
  { column: column('analyzedMs', 'Analyzed', 'relative-time'), order: null },
  {
    column: column('freezeShare', 'Freeze age', 'percent', {
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
export type OrderedColumns = readonly { column: ReturnType<typeof column>; order: string | null }[]

/** Returns the requested sort order if a column has it; otherwise the default. */
export const readOrder = <Order extends string>(
  columns: readonly { order: Order | null }[],
  requested: string | null,
  defaultOrder: Order,
): Order => columns.find(({ order }) => order !== null && order === requested)?.order ?? defaultOrder

/** Columns of the standby list. */
export const standbyColumns = [
  column('application', 'Application'),
  column('address', 'Address', 'code'),
  column('state', 'State'),
  column('syncState', 'Synchronous'),
  column('sentLagBytes', 'Unsent', 'bytes'),
  column('flushLagBytes', 'Unflushed', 'bytes'),
  column('replayLagBytes', 'Unreplayed', 'bytes', { bar: true }),
  column('replayLagMs', 'Replay lag', 'duration-ms'),
  column('user', 'User'),
  column('pid', 'Process', 'code'),
]
export const slotColumns = [
  column('name', 'Slot', 'code'),
  column('type', 'Type'),
  column('isActive', 'Active', 'boolean', { doc: 'Whether a consumer is connected.' }),
  column('retainedBytes', 'Retained WAL', 'bytes', { bar: true }),
  column('unconfirmedBytes', 'Unconfirmed', 'bytes'),
  column('walStatus', 'WAL status'),
  column('safeBytes', 'Safe WAL size', 'bytes', {
    doc: 'WAL that can be written before the slot is lost; empty without a limit.',
  }),
  column('database', 'Database'),
  column('plugin', 'Plugin', 'code'),
]
export const subscriptionColumns = [
  column('name', 'Subscription', 'code'),
  column('isRunning', 'Running', 'boolean'),
  column('lastMessageMs', 'Last message', 'relative-time'),
  column('lastReportedMs', 'Last position', 'relative-time'),
]
