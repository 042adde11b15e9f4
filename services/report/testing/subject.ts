import type { ReadCondition, TableRead } from '#proto/advice-data.ts'
import type { AdviceSubject } from '../advisor/advice-subject.ts'

/** Returns a condition on one column. */
export const createReadCondition = (
  column: string,
  sql: string,
  kind: ReadCondition['kind'] = 'equality',
): ReadCondition => ({
  kind,
  column,
  columns: [column],
  sql,
})

const createColumn = (name: string, type: string, compressedBytes: number) => ({
  name,
  position: 1,
  type,
  defaultKind: '',
  defaultExpression: '',
  comment: '',
  codec: '',
  compressedBytes,
  uncompressedBytes: compressedBytes,
  marksBytes: 0,
  ratio: 1,
  isInPartitionKey: false,
  isInSortingKey: false,
  isInPrimaryKey: false,
  isInSamplingKey: false,
})

const overview: AdviceSubject['overview'] = {
  name: 'orders',
  kind: 'table',
  engine: 'MergeTree',
  comment: '',
  rows: 1_000_000,
  bytes: 100_000,
  changedMs: 0,
  engineFull: 'MergeTree ORDER BY id SETTINGS index_granularity = 1000',
  partitionKey: '',
  sortingKey: 'id',
  primaryKey: 'id',
  samplingKey: '',
  uuid: '',
  storagePolicy: 'default',
  parts: 2,
  partitions: 1,
  compressedBytes: 100_000,
  uncompressedBytes: 100_000,
  bytesOnDisk: 100_000,
  marks: 1_000,
  primaryKeyBytes: 0,
  primaryKeyAllocatedBytes: 0,
  disks: ['default'],
  modifiedMs: null,
}

const read: TableRead = {
  database: 'cafe',
  table: 'orders',
  sql: '`cafe`.`orders`',
  parts: 2,
  rows: 1_000_000,
  marks: 1_000,
  isFinal: false,
  hasPrewhere: true,
  columns: ['guest', 'note'].map((name) => ({ name, sql: `\`${name}\`` })),
  conditions: [createReadCondition('guest', '(`guest` = 7)')],
  grouping: null,
  isAlone: true,
}

/**
 * Returns a table of a million rows in a thousand granules, sorted by `id`. The query selects `note` where `guest` is
 * 7.
 */
export const createAdviceSubject = (
  differing: { read?: Partial<TableRead>; overview?: Partial<AdviceSubject['overview']> } & Partial<
    Omit<AdviceSubject, 'read' | 'overview'>
  > = {},
): AdviceSubject => ({
  columns: [
    createColumn('id', 'UInt64', 5_000),
    createColumn('guest', 'UInt32', 10_000),
    createColumn('day', 'Date', 5_000),
    createColumn('note', 'String', 80_000),
  ],
  indexes: [],
  projections: [],
  statement: { formatted: 'SELECT note\nFROM cafe.orders\nWHERE guest = 7', database: undefined },
  ...differing,
  overview: { ...overview, ...differing.overview },
  read: { ...read, ...differing.read },
})
