import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, it } from 'vitest'
import type { RecordedHour } from '#shared/tools/recorded-hour.ts'
import { formatRecordedHour } from './recorded-hour-text.ts'

const at = '2026-01-02T03:04:05Z'
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
const text = 'SELECT region, sum(amount) FROM shop.orders WHERE customer_id = ? '.repeat(5).slice(0, 300)
const load = {
  at,
  cpuCores: 1.23457,
  loadAverage: 21.9543,
  memoryBytes: 80_574_700,
  runningQueries: 4.56789,
  failedQueries: 12,
}
const nothing: RecordedHour = {
  host: 'box',
  reason: 'host box cannot be reached',
  lastSampleAt: at,
  load: [],
  queries: [],
  running: [],
  errors: [],
  lines: [],
  changes: [],
}

it('has at most 15,000 tokens when every list is full', () => {
  const query = {
    pattern: text,
    calls: 1_234,
    errors: 1,
    durationMs: 567_890,
    peakMemoryBytes: 80_574_662,
    users: ['ada'],
  }
  const running = {
    at,
    queryId: '0af76519-16cd-43dd-8448-eb211c80319c',
    user: 'ada',
    elapsedSeconds: 12.5,
    memoryBytes: 1,
  }
  const hour = {
    ...nothing,
    load: times(60, load),
    queries: times(10, query),
    running: times(20, { ...running, pattern: text }),
    errors: times(10, { name: 'MEMORY_LIMIT_EXCEEDED', count: 3 }),
    lines: times(20, { at, level: 'Error', logger: 'executeQuery', message: text }),
    changes: times(20, { at, kind: 'merge-tree-setting', name: 'max_bytes_to_merge', change: 'changed' }),
  }
  const formatted = formatRecordedHour(hour)
  expect(countTokens(formatted)).toBeLessThanOrEqual(15_000)
  expect(formatted.split('\n').length).toBeGreaterThan(140)
})

it('omits lists without records', () => {
  const formatted = formatRecordedHour({ ...nothing, load: [load] })
  expect(formatted).toMatch(/^load:\nat\tcpuCores\t/)
  expect(formatted).not.toContain('lines:')
})
