import type { RouteData } from '#lib/api/call.ts'
import type { KeyMetric } from '#lib/ui/key-metric.ts'
import { formatValue } from '#lib/ui/number.ts'

type Overview = NonNullable<RouteData<'GET /api/v1/explorer/table'>>
type Column = RouteData<'GET /api/v1/explorer/columns'>[number]

/** Returns the key metrics of a table. */
export const listTableMetrics = (table: Overview): KeyMetric[] => [
  { name: 'Engine', value: table.engine, note: table.comment },
  { name: 'Rows', value: table.rows, unit: 'rows' },
  { name: 'On disk', value: table.bytesOnDisk, unit: 'bytes', note: table.disks.join(', ') },
  {
    name: 'Uncompressed',
    value: table.uncompressedBytes,
    unit: 'bytes',
    note:
      table.compressedBytes > 0 ? `ratio ${formatValue(table.uncompressedBytes / table.compressedBytes, 'ratio')}` : '',
  },
  {
    name: 'Parts',
    value: table.parts,
    note: `in ${table.partitions} ${table.partitions === 1 ? 'partition' : 'partitions'}`,
  },
  { name: 'Granules', value: table.marks },
  { name: 'Primary key', value: table.primaryKeyBytes, unit: 'bytes', note: 'in memory' },
  { name: 'Storage', value: table.storagePolicy || '–' },
]

/** Returns the key expressions of a table, such as its sorting key. */
export const listTableKeys = (table: Overview): { name: string; text: string }[] =>
  [
    { name: 'Sorting key', text: table.sortingKey },
    { name: 'Primary key', text: table.primaryKey === table.sortingKey ? '' : table.primaryKey },
    { name: 'Partition key', text: table.partitionKey },
    { name: 'Sampling key', text: table.samplingKey },
  ].filter(({ text }) => text !== '')

/** Returns the columns of a table as rows, with their keys and default expressions as text. */
export const toColumnRows = (columns: readonly Column[]) =>
  columns.map((column) => ({
    ...column,
    default: [column.defaultKind, column.defaultExpression].filter(Boolean).join(' '),
    keys: [
      column.isInPartitionKey && 'partition',
      column.isInPrimaryKey && 'primary',
      column.isInSortingKey && !column.isInPrimaryKey && 'sorting',
      column.isInSamplingKey && 'sampling',
    ]
      .filter(Boolean)
      .join(', '),
  }))
