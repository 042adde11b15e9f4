import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { LockSession, PostgresSession } from '#proto/postgres-sessions.ts'
import type { postgresSourceMethods } from '#proto/postgres-source.ts'
import type { PostgresStatement, PostgresTable } from '#proto/postgres-statistics.ts'
import type { ValidRequest } from './valid-requests.ts'

const session: PostgresSession = {
  pid: 7,
  database: 'shop',
  user: 'ada',
  application: 'checkout',
  address: '192.0.2.7',
  type: 'client backend',
  state: 'active',
  waitType: null,
  waitEvent: null,
  transactionMs: 2_000,
  statementMs: 1_000,
  stateMs: 1_000,
  queryId: '18446744073709551615',
  query: 'SELECT 7',
}

const blocker: LockSession = { ...session, waitsFor: null, blockedBy: [], blocks: 1 }

const statement: PostgresStatement = {
  queryId: '18446744073709551615',
  database: 'shop',
  user: 'ada',
  query: 'SELECT $1',
  calls: 100,
  totalMs: 500,
  share: 0.25,
  meanMs: 5,
  longestMs: 50,
  planningMs: 0,
  rows: 100,
  cacheHitShare: 0.99,
  readBytes: 8_192,
  tempBytes: 0,
  walBytes: 0,
}

const table: PostgresTable = {
  schema: 'public',
  table: 'orders',
  totalBytes: 16_384,
  indexBytes: 8_192,
  rows: 100,
  deadRows: 10,
  sequentialScans: 1,
  sequentialRows: 100,
  indexScans: 5,
  inserted: 100,
  updated: 10,
  deleted: 0,
  hotUpdateShare: 0.5,
  cacheHitShare: null,
  modifiedSinceAnalyze: 10,
  vacuumedMs: null,
  analyzedMs: 1_000,
  freezeShare: 0.01,
}

/** A PostgreSQL source where one session blocks another. */
export const fakePostgresSource = {
  postgresOffered: async () => ({ isOffered: true }),
  postgresStatus: async () => ({
    status: 'connected',
    message: 'The PostgreSQL source answers.',
    server: { version: '17.2', database: 'shop', startedMs: 1_000, isStandby: false, limited: null },
  }),
  postgresActivity: async ({ withValues }) => ({
    sessions: [{ ...session, query: withValues ? session.query : 'SELECT ?' }],
    truncated: false,
    counts: { active: 1, idle: 2, idleInTransaction: 0, waitingForLock: 1, used: 4, limit: 100 },
    limited: null,
  }),
  postgresStatements: async () => ({
    statements: [statement],
    truncated: false,
    sinceMs: 1_000,
    unavailable: null,
    limited: null,
  }),
  postgresTables: async () => ({ tables: [table], truncated: false, database: 'shop', sizes: 'measured' }),
  postgresReplication: async () => ({
    replication: { isStandby: false, standbys: [], slots: [], receiver: null, subscriptions: [] },
    limited: null,
  }),
  postgresLocks: async () => ({
    sessions: [
      blocker,
      {
        ...session,
        pid: 8,
        blockedBy: [7],
        blocks: 0,
        waitsFor: { type: 'relation', mode: 'AccessShareLock', relation: 'public.orders', waitedMs: 900 },
      },
    ],
    truncated: false,
    limited: null,
  }),
} satisfies Partial<ServiceHandlers<Service<typeof postgresSourceMethods>>>

const base = '/api/v1/postgres'

/** A valid request for every route of the PostgreSQL source. */
export const postgresRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${base}/status`]: { url: `${base}/status` },
  [`GET ${base}/activity`]: { url: `${base}/activity?all=1&limit=5` },
  [`GET ${base}/statements`]: { url: `${base}/statements?order=mean&search=orders` },
  [`GET ${base}/tables`]: { url: `${base}/tables?order=dead_rows` },
  [`GET ${base}/replication`]: { url: `${base}/replication` },
  [`GET ${base}/locks`]: { url: `${base}/locks` },
}
