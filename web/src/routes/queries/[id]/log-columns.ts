import { createColumn } from '#lib/table/columns.ts'

export const threadColumns = [
  createColumn('name', 'Thread'),
  createColumn('threadId', 'Id', 'code'),
  createColumn('durationMs', 'Duration', 'duration-ms', { bar: true }),
  createColumn('cpuMs', 'CPU time', 'duration-ms', { bar: true }),
  createColumn('peakMemoryBytes', 'Peak memory', 'bytes'),
  createColumn('readRows', 'Rows read', 'rows'),
  createColumn('readBytes', 'Bytes read', 'bytes'),
  createColumn('writtenRows', 'Rows written', 'rows'),
]

export const processorColumns = [
  createColumn('name', 'Processor'),
  createColumn('processors', 'Count', 'number'),
  createColumn('elapsedMs', 'Working', 'duration-ms', { bar: true }),
  createColumn('inputWaitMs', 'Waiting for input', 'duration-ms'),
  createColumn('outputWaitMs', 'Waiting for output', 'duration-ms'),
  createColumn('inputRows', 'Rows in', 'rows'),
  createColumn('inputBytes', 'Bytes in', 'bytes'),
  createColumn('outputRows', 'Rows out', 'rows'),
  createColumn('outputBytes', 'Bytes out', 'bytes'),
]

export const viewColumns = [
  createColumn('view', 'View'),
  createColumn('target', 'Target'),
  createColumn('status', 'Outcome', 'badge'),
  createColumn('durationMs', 'Duration', 'duration-ms', { bar: true }),
  createColumn('readRows', 'Rows read', 'rows'),
  createColumn('writtenRows', 'Rows written', 'rows'),
  createColumn('writtenBytes', 'Bytes written', 'bytes'),
  createColumn('peakMemoryBytes', 'Peak memory', 'bytes'),
  createColumn('exception', 'Exception'),
]

export const settingColumns = [createColumn('name', 'Setting', 'code'), createColumn('value', 'Value', 'code')]
