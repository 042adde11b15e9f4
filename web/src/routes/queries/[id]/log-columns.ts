import { column } from '#lib/table/columns.ts'

export const threadColumns = [
  column('name', 'Thread'),
  column('threadId', 'Id', 'code'),
  column('durationMs', 'Duration', 'duration-ms', { bar: true }),
  column('cpuMs', 'CPU time', 'duration-ms', { bar: true }),
  column('peakMemoryBytes', 'Peak memory', 'bytes'),
  column('readRows', 'Rows read', 'rows'),
  column('readBytes', 'Bytes read', 'bytes'),
  column('writtenRows', 'Rows written', 'rows'),
]

export const processorColumns = [
  column('name', 'Processor'),
  column('processors', 'Count', 'number'),
  column('elapsedMs', 'Working', 'duration-ms', { bar: true }),
  column('inputWaitMs', 'Waiting for input', 'duration-ms'),
  column('outputWaitMs', 'Waiting for output', 'duration-ms'),
  column('inputRows', 'Rows in', 'rows'),
  column('inputBytes', 'Bytes in', 'bytes'),
  column('outputRows', 'Rows out', 'rows'),
  column('outputBytes', 'Bytes out', 'bytes'),
]

export const viewColumns = [
  column('view', 'View'),
  column('target', 'Target'),
  column('status', 'Outcome', 'badge'),
  column('durationMs', 'Duration', 'duration-ms', { bar: true }),
  column('readRows', 'Rows read', 'rows'),
  column('writtenRows', 'Rows written', 'rows'),
  column('writtenBytes', 'Bytes written', 'bytes'),
  column('peakMemoryBytes', 'Peak memory', 'bytes'),
  column('exception', 'Exception'),
]

export const settingColumns = [column('name', 'Setting', 'code'), column('value', 'Value', 'code')]
