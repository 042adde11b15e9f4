import { column } from '#lib/table/columns.ts'

export const tableColumns = [
  column('name', 'Table', 'link', { href: '/explorer?database={database}&table={name}' }),
  column('kind', 'Kind', 'badge'),
  column('engine', 'Engine', 'badge'),
  column('rows', 'Rows', 'rows', { bar: true }),
  column('bytes', 'Size', 'bytes', { bar: true }),
  column('changedMs', 'Changed', 'relative-time', { doc: 'Last change of the definition.' }),
  column('comment', 'Comment'),
]

export const columnColumns = [
  column('position', '#', 'number'),
  column('name', 'Column', 'code'),
  column('type', 'Type', 'code'),
  column('keys', 'Keys', 'list', { doc: 'Table keys that contain the column.' }),
  column('compressedBytes', 'Size', 'bytes', { bar: true, doc: 'Compressed size on disk.' }),
  column('uncompressedBytes', 'Uncompressed', 'bytes'),
  column('ratio', 'Ratio', 'ratio', { doc: 'Uncompressed divided by compressed size.' }),
  column('codec', 'Codec', 'code'),
  column('default', 'Default', 'code'),
  column('comment', 'Comment'),
]

export const skipIndexColumns = [
  column('name', 'Index', 'code'),
  column('typeFull', 'Type', 'code'),
  column('expression', 'Expression', 'code'),
  column('granularity', 'Granularity', 'number', { doc: 'Granules per index entry.' }),
  column('compressedBytes', 'Size', 'bytes', { bar: true }),
  column('marksBytes', 'Marks', 'bytes'),
]

export const projectionColumns = [
  column('name', 'Projection', 'code'),
  column('type', 'Type', 'badge'),
  column('parts', 'Parts', 'number'),
  column('rows', 'Rows', 'rows'),
  column('compressedBytes', 'Size', 'bytes', { bar: true }),
  column('definition', 'Definition', 'query'),
]

export const partColumns = [
  column('name', 'Part', 'code'),
  column('partition', 'Partition', 'code'),
  column('rows', 'Rows', 'rows', { bar: true }),
  column('bytesOnDisk', 'On disk', 'bytes', { bar: true }),
  column('uncompressedBytes', 'Uncompressed', 'bytes'),
  column('marks', 'Marks', 'number'),
  column('level', 'Level', 'number', { doc: 'Merge level.' }),
  column('type', 'Type', 'badge'),
  column('disk', 'Disk', 'badge'),
  column('modifiedMs', 'Modified', 'relative-time'),
]

export const userColumns = [
  column('user', 'User', 'badge'),
  column('queries', 'Queries', 'number', { bar: true }),
  column('queriesLastDay', 'Last day', 'number'),
  column('reads', 'Reads', 'number'),
  column('writes', 'Writes', 'number'),
  column('errors', 'Failed', 'number'),
  column('totalMs', 'Time', 'duration-ms', { bar: true }),
  column('readRows', 'Rows read', 'rows'),
  column('writtenRows', 'Rows written', 'rows'),
  column('lastReadMs', 'Last read', 'relative-time'),
  column('lastWriteMs', 'Last write', 'relative-time'),
]

export const queryColumns = [
  column('queryId', 'Query id', 'link', { href: '/queries/{queryId}' }),
  column('endedMs', 'Ended', 'relative-time'),
  column('durationMs', 'Duration', 'duration-ms', { bar: true }),
  column('user', 'User', 'badge'),
  column('kind', 'Kind', 'badge'),
  column('query', 'Statement', 'query', { href: '/fingerprints/{fingerprint}' }),
  column('readRows', 'Rows read', 'rows'),
  column('memoryBytes', 'Memory', 'bytes'),
]
