import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Row } from '#proto/query.ts'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { queryChart } from '../pages/chart.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'

/** The sizes of the example data, from which all expected numbers are derived. */
const inserts = 4
const rowsPerInsert = 300
const partitions = 3
const fewRows = 50
const failures = { missingTable: 5, outOfMemory: 2, outOfTime: 3 }
const refusedLogins = 6

const parts = inserts * partitions
const rows = inserts * rowsPerInsert
const startLimitMs = 120_000

let sandbox: Sandbox
let opened: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  await fill()
  await fail()
  await run('SYSTEM FLUSH LOGS')
  opened = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'sandbox' })
}, startLimitMs)
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const as = (user: string, password: string) => ({
  headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password },
})

const run = async (sql: string, by = as('default', '')): Promise<void> => {
  const { status, text } = await curl(sandbox.url, sql, by)
  expect([sql, status, status === 200 ? '' : text]).toEqual([sql, 200, ''])
}

/** Fills the tables. Merges are stopped, so that parts stay as inserted and the mutation stays pending. */
const fill = async (): Promise<void> => {
  const ingest = as('ingest', 'ingest')
  await run('CREATE DATABASE counted')
  await run(`CREATE TABLE counted.many (id UInt64) ENGINE = MergeTree PARTITION BY id % ${partitions} ORDER BY id`)
  await run('CREATE TABLE counted.few (id UInt64) ENGINE = MergeTree ORDER BY id')
  await run('SYSTEM STOP MERGES counted.many')
  for (let insert = 0; insert < inserts; insert++) {
    await run(`INSERT INTO counted.many SELECT number FROM numbers(${rowsPerInsert})`, ingest)
  }
  await run(`INSERT INTO counted.few SELECT number FROM numbers(${fewRows})`, ingest)
  await run('ALTER TABLE counted.many DELETE WHERE id = 1 SETTINGS mutations_sync = 0')
}

const fail = async (): Promise<void> => {
  await failTimes(failures.missingTable, 60, 'SELECT * FROM counted.missing')
  await failTimes(
    failures.outOfMemory,
    241,
    'SELECT groupArray(number) FROM numbers(1000000) SETTINGS max_memory_usage = 1000000',
  )
  await failTimes(
    failures.outOfTime,
    159,
    'SELECT sum(sleepEachRow(0.05)) FROM numbers(200) SETTINGS max_block_size = 1, max_execution_time = 0.2',
  )
  await failTimes(refusedLogins, 516, 'SELECT 1', as('analyst', 'not the password'))
}

const failTimes = async (times: number, code: number, sql: string, by = as('default', '')): Promise<void> => {
  for (let time = 0; time < times; time++) {
    const { text } = await curl(sandbox.url, sql, by)
    expect(text).toContain(`Code: ${code}.`)
  }
}

/** Returns the rows of a chart with the named columns. */
const readChart = async (name: string, ...columns: string[]): Promise<Row[]> => {
  const chart = opened.definitions.chart(name)
  const drawn = await queryChart(opened, opened.hosts.get('sandbox'), chart, { parameters: {} }, createCall())
  expect(drawn.unavailable).toBeNull()
  return drawn.rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
}

/** Returns the sum of a time series, or of one of its series. */
const total = async (name: string, value: string, series: Row = {}): Promise<number> => {
  const drawn = await readChart(name, value, ...Object.keys(series))
  const matching = drawn.filter((row) => Object.entries(series).every(([column, wanted]) => row[column] === wanted))
  return matching.reduce((sum, row) => sum + Number(row[value]), 0)
}

describe('parts and rows that were inserted', () => {
  it('are counted by table', async () => {
    const expected = [
      { table: 'counted.many', parts, rows },
      { table: 'counted.few', parts: 1, rows: fewRows },
    ]
    expect(await readChart('parts-per-table', 'table', 'parts', 'rows')).toEqual(expected)
    expect(await readChart('health-max-part-count-detail', 'table', 'parts', 'rows')).toEqual(expected)
    expect(await readChart('health-max-part-count', 'table', 'parts')).toEqual([{ table: 'counted.many', parts }])
  })

  it('are counted by partition', async () => {
    expect(await readChart('partition-part-health', 'partition', 'parts', 'rows')).toEqual([
      ...Array.from({ length: partitions }, (_, partition) => ({
        partition: `counted.many ${partition}`,
        parts: inserts,
        rows: rows / partitions,
      })),
      { partition: 'counted.few tuple()', parts: 1, rows: fewRows },
    ])
    expect(await readChart('partition-part-health-summary', 'active', 'outdated', 'partitions', 'average')).toEqual([
      { active: parts + 1, outdated: 0, partitions: partitions + 1, average: (parts + 1) / (partitions + 1) },
    ])
  })

  it('are counted when they were created', async () => {
    expect(await total('new-parts-created', 'parts', { table: 'counted.many' })).toBe(parts)
    expect(await total('new-parts-created', 'rows', { table: 'counted.many' })).toBe(rows)
    expect(await total('traffic-inserted-rows', 'rows')).toBe(rows + fewRows)
    expect(await total('part-log-lifecycle', 'inserted')).toBe(parts + 1)
    expect(await total('part-log-lifecycle', 'merged')).toBe(0)
  })

  it('are counted by who inserted them', async () => {
    const written = rows + fewRows
    expect(await readChart('top-inserters', 'user', 'rows', 'inserts', 'average_rows')).toEqual([
      { user: 'ingest', rows: written, inserts: inserts + 1, average_rows: written / (inserts + 1) },
    ])
    expect(await total('insert-performance', 'inserts')).toBe(inserts + 1)
  })
})

describe('a stuck mutation', () => {
  it('lists all parts as remaining', async () => {
    expect(await readChart('summary-used-by-mutations', 'running', 'parts')).toEqual([{ running: 1, parts }])
    expect(await readChart('summary-stuck-mutations', 'active', 'stuck', 'failed')).toEqual([
      { active: 1, stuck: 0, failed: 0 },
    ])
    expect(await readChart('mutation-progress', 'table', 'status', 'parts')).toEqual([
      { table: 'counted.many', status: 'running', parts },
    ])
  })
})

describe('failed queries', () => {
  const { missingTable, outOfMemory, outOfTime } = failures

  it('are counted by their reason', async () => {
    expect(await total('oom-killed-queries', 'queries')).toBe(outOfMemory)
    expect(await readChart('health-oom-killed-recent', 'queries')).toEqual([{ queries: outOfMemory }])
    expect(await readChart('health-query-timeouts', 'queries')).toEqual([{ queries: outOfTime }])
    expect(await total('cancelled-queries', 'timed_out')).toBe(outOfTime)
    expect(await readChart('query-insights-errors-by-code', 'code', 'errors')).toEqual([
      { code: 60, errors: missingTable },
      { code: 159, errors: outOfTime },
      { code: 241, errors: outOfMemory },
    ])
  })

  it('are counted together', async () => {
    const all = missingTable + outOfMemory + outOfTime
    expect(await readChart('health-failed-queries-recent', 'queries')).toEqual([{ queries: all }])
    expect(await readChart('health-failed-queries-recent-detail', 'user')).toHaveLength(all)
    expect(await total('failed-query-count', 'queries')).toBe(all)
    expect(await total('failed-query-count', 'queries', { type: 'before the start' })).toBe(missingTable)
  })
})

describe('rejected logins', () => {
  it('are counted by user and over time', async () => {
    expect(await readChart('failed-login-by-user', 'user', 'failures')).toEqual([
      { user: 'analyst', failures: refusedLogins },
    ])
    expect(await total('login-success-rate', 'refused')).toBe(refusedLogins)
  })
})
