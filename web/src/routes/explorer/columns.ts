import { createColumn } from '#lib/table/columns.ts'

export const tableColumns = [
  createColumn('name', 'Table', 'link', { href: '/explorer?database={database}&table={name}' }),
  createColumn('kind', 'Kind', 'badge'),
  createColumn('engine', 'Engine', 'badge'),
  createColumn('rows', 'Rows', 'rows', { bar: true }),
  createColumn('bytes', 'Size', 'bytes', { bar: true }),
  createColumn('changedMs', 'Changed', 'relative-time', { doc: 'Last change of the definition.' }),
  createColumn('comment', 'Comment'),
]

export const columnListColumns = [
  createColumn('position', '#', 'number'),
  createColumn('name', 'Column', 'code'),
  createColumn('type', 'Type', 'code'),
  createColumn('keys', 'Keys', 'list', { doc: 'Table keys that contain the column.' }),
  createColumn('compressedBytes', 'Size', 'bytes', { bar: true, doc: 'Compressed size on disk.' }),
  createColumn('uncompressedBytes', 'Uncompressed', 'bytes'),
  createColumn('ratio', 'Ratio', 'ratio', { doc: 'Uncompressed divided by compressed size.' }),
  createColumn('codec', 'Codec', 'code'),
  createColumn('default', 'Default', 'code'),
  createColumn('comment', 'Comment'),
]

export const skipIndexColumns = [
  createColumn('name', 'Index', 'code'),
  createColumn('typeFull', 'Type', 'code'),
  createColumn('expression', 'Expression', 'code'),
  createColumn('granularity', 'Granularity', 'number', { doc: 'Granules per index entry.' }),
  createColumn('compressedBytes', 'Size', 'bytes', { bar: true }),
  createColumn('marksBytes', 'Marks', 'bytes'),
]

export const projectionColumns = [
  createColumn('name', 'Projection', 'code'),
  createColumn('type', 'Type', 'badge'),
  createColumn('parts', 'Parts', 'number'),
  createColumn('rows', 'Rows', 'rows'),
  createColumn('compressedBytes', 'Size', 'bytes', { bar: true }),
  createColumn('definition', 'Definition', 'query'),
]

export const partColumns = [
  createColumn('name', 'Part', 'code'),
  createColumn('partition', 'Partition', 'code'),
  createColumn('rows', 'Rows', 'rows', { bar: true }),
  createColumn('bytesOnDisk', 'On disk', 'bytes', { bar: true }),
  createColumn('uncompressedBytes', 'Uncompressed', 'bytes'),
  createColumn('marks', 'Marks', 'number'),
  createColumn('level', 'Level', 'number', { doc: 'Merge level.' }),
  createColumn('type', 'Type', 'badge'),
  createColumn('disk', 'Disk', 'badge'),
  createColumn('modifiedMs', 'Modified', 'relative-time'),
]

export const userColumns = [
  createColumn('user', 'User', 'badge'),
  createColumn('queries', 'Queries', 'number', { bar: true }),
  createColumn('queriesLastDay', 'Last day', 'number'),
  createColumn('reads', 'Reads', 'number'),
  createColumn('writes', 'Writes', 'number'),
  createColumn('errors', 'Failed', 'number'),
  createColumn('totalMs', 'Time', 'duration-ms', { bar: true }),
  createColumn('readRows', 'Rows read', 'rows'),
  createColumn('writtenRows', 'Rows written', 'rows'),
  createColumn('lastReadMs', 'Last read', 'relative-time'),
  createColumn('lastWriteMs', 'Last write', 'relative-time'),
]

export const queryColumns = [
  createColumn('queryId', 'Query id', 'link', { href: '/queries/{queryId}' }),
  createColumn('endedMs', 'Ended', 'relative-time'),
  createColumn('durationMs', 'Duration', 'duration-ms', { bar: true }),
  createColumn('user', 'User', 'badge'),
  createColumn('kind', 'Kind', 'badge'),
  createColumn('query', 'Statement', 'query', { href: '/fingerprints/{fingerprint}' }),
  createColumn('readRows', 'Rows read', 'rows'),
  createColumn('memoryBytes', 'Memory', 'bytes'),
]
