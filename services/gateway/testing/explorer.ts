import type { consoleMethods } from '#proto/console.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { explorerMethods } from '#proto/explorer.ts'
import type { StatementExecution } from '#proto/query.ts'

const columns = [
  { name: 'id', type: 'UInt64' },
  { name: 'text', type: 'String' },
]
const statement: StatementExecution = {
  queryId: 'q2',
  durationMs: 3,
  rows: 2,
  rowsRead: 20,
  bytesRead: 200,
  host: 'analytics',
  clickhouseVersion: '26.3.1',
  sql: 'SELECT id, text FROM t',
  timezone: null,
  incomplete: null,
}
const truncated = { reason: 'rows' as const, limit: 2, returned: 2 }

const lines = { json: '["1","a\\nb"]\n["2","c"]\n', csv: '"id"\n1\n2\n', tsv: 'id\n1\n2\n', jsoneachrow: '{}\n{}\n' }

/** A console whose statements return one row, or two rows as a stream. Only the run `mine` can be cancelled. */
export const fakeConsole = {
  runQuery: async () => ({ columns, rows: [['1', 'a\nb']], truncated: null, statement }),
  streamQuery: async ({ format }) => ({
    head: { columns: format === 'json' ? columns : null },
    frames: framesOf(lines[format]),
  }),
  cancelQuery: async ({ runId }) => {
    if (runId !== 'mine') throw new ServiceError('not-found', 'you have no query running with this ID')
    return { cancelled: true }
  },
} satisfies Partial<ServiceHandlers<Service<typeof consoleMethods>>>

async function* framesOf(text: string) {
  yield Buffer.from(text)
  return { truncated, statement }
}

const table = {
  name: 'orders',
  kind: 'table' as const,
  engine: 'MergeTree',
  comment: '',
  rows: 7,
  bytes: null,
  changedMs: 1_000,
}
const keys = { engineFull: 'MergeTree', partitionKey: '', sortingKey: 'id', primaryKey: 'id', samplingKey: '' }
const stored = { parts: 1, rows: 7, compressedBytes: 10, uncompressedBytes: 40 }
const end = (name: string) => ({ database: 'shop', table: name, engine: 'MergeTree' })
const figures = { reads: 1, writes: 1, errors: 0, queriesLastDay: 2, totalMs: 5, readRows: 7, readBytes: 56 }
const times = { writtenRows: 1, lastReadMs: 1_000, lastWriteMs: null }

const list = async <R>(row: R) => ({ rows: [row], truncated: false, unavailable: null })
const detail = async <D>(detail: D) => ({ detail, unavailable: null })

/** A host with the table `orders` in the database `shop`. */
export const fakeExplorer = {
  exploreDatabases: async () =>
    list({
      name: 'shop',
      engine: 'Atomic',
      comment: '',
      uuid: 'u',
      isSystem: false,
      tables: 1,
      views: 0,
      dictionaries: 0,
      rows: 7,
      bytes: 10,
    }),
  exploreTables: async ({ database }) => {
    if (database === 'shop') return list(table)
    throw new ServiceError('not-found', `unknown database "${database}"; did you mean "shop"?`, {
      details: { parameter: 'database', nearest: ['shop'] },
    })
  },
  exploreTable: async () =>
    detail({
      ...table,
      ...keys,
      ...stored,
      uuid: 'u',
      storagePolicy: 'default',
      partitions: 1,
      bytesOnDisk: 12,
      marks: 2,
      primaryKeyBytes: 8,
      primaryKeyAllocatedBytes: 16,
      disks: ['default'],
      modifiedMs: 2_000,
    }),
  exploreColumns: async () =>
    list({
      name: 'id',
      position: 1,
      type: 'UInt64',
      defaultKind: '',
      defaultExpression: '',
      comment: '',
      codec: '',
      compressedBytes: null,
      uncompressedBytes: null,
      marksBytes: null,
      ratio: null,
      isInPartitionKey: false,
      isInSortingKey: true,
      isInPrimaryKey: true,
      isInSamplingKey: false,
    }),
  exploreDdl: async ({ table: name = '' }) => detail({ ddl: `CREATE TABLE shop.${name}` }),
  exploreSkipIndexes: async () =>
    list({
      name: 'texts',
      type: 'minmax',
      typeFull: 'minmax',
      expression: 'id',
      granularity: 1,
      compressedBytes: 1,
      uncompressedBytes: 2,
      marksBytes: 3,
    }),
  exploreProjections: async () => list({ ...stored, name: 'by_day', type: null, definition: null }),
  exploreParts: async () =>
    list({
      name: 'all_1_1_0',
      partition: 'tuple()',
      active: true,
      type: 'Compact',
      level: 0,
      rows: 7,
      compressedBytes: 10,
      uncompressedBytes: 40,
      bytesOnDisk: 12,
      marks: 2,
      primaryKeyBytes: 8,
      disk: 'default',
      modifiedMs: 2_000,
    }),
  exploreDependencies: async () =>
    list({ kind: 'view', from: end('orders'), to: end('open'), direction: 'downstream', cluster: null }),
  exploreUsage: async () =>
    detail({ queries: 2, ...figures, ...times, users: [{ user: 'ada', queries: 2, ...figures, ...times }] }),
  exploreQueries: async () =>
    list({
      queryId: 'q1',
      user: 'ada',
      kind: 'Select',
      failed: false,
      endedMs: 1_000,
      durationMs: 5,
      readRows: 7,
      readBytes: 56,
      writtenRows: 0,
      memoryBytes: 1,
      query: 'SELECT ? FROM shop.orders',
      fingerprint: '1',
    }),
  previewTable: async ({ hostKey }) => fakeConsole.streamQuery({ hostKey, query: '', maxBytes: 1, format: 'json' }),
} satisfies Partial<ServiceHandlers<Service<typeof explorerMethods>>>
