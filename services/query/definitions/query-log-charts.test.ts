import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { createEventsTableSql, defaultEventsTable } from './events.ts'

const hostKey = 'box'
const second = 1
const hour = 3_600
/** The start of 24 hours that contain only the log rows of this test: a full hour, in epoch seconds. */
const start = Math.floor(Date.now() / 1_000 / hour) * hour - 48 * hour

let sandbox: Sandbox
let parts: TestService

const insert = async (table: string, rows: readonly object[]): Promise<void> => {
  const body = rows.map((row) => JSON.stringify(row)).join('\n')
  const answer = await curl(sandbox.url, `INSERT INTO ${table} FORMAT JSONEachRow`, { body })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** Returns the date of an instant in the time zone of the host. */
const dateOf = (instant: number): string => new Date(instant * 1_000).toLocaleDateString('sv-SE')

/** Returns the query log entry of a query with this start and duration. */
const ran = (from: number, durationMs: number, more: object = {}): object => {
  const end = from + Math.floor(durationMs / 1_000)
  return {
    type: 'QueryFinish',
    event_date: dateOf(end),
    event_time: end,
    query_start_time: from,
    query_duration_ms: durationMs,
    query: 'SELECT 1',
    query_kind: 'Select',
    is_initial_query: 1,
    user: 'ann',
    ...more,
  }
}
const repeat = (times: number, row: () => object): object[] => Array.from({ length: times }, row)

const moments = {
  busy: start,
  slow: start + 6 * hour,
  mixed: start + 12 * hour,
  parts: start + 18 * hour,
  changes: start + 21 * hour,
}

const busySecond = [
  ran(moments.busy, 5_000),
  ran(moments.busy + 3 * second, 1_000),
  ran(moments.busy + 5 * second, 200),
  ran(moments.busy + 5 * second, 900, { user: 'bob' }),
  ran(moments.busy + 5 * second, 900, { is_initial_query: 0 }),
  ran(moments.busy + 6 * second, 100),
]
const becameSlow = { query: 'SELECT a FROM t WHERE b = 7', normalized_query_hash: '17' }
const stayedSlow = { query: 'SELECT c FROM t', normalized_query_hash: '18' }
const regression = [
  ...repeat(6, () => ran(moments.slow, 200, becameSlow)),
  ...repeat(6, () => ran(moments.slow + 2 * hour, 900, becameSlow)),
  ...repeat(6, () => ran(moments.slow, 900, stayedSlow)),
  ...repeat(6, () => ran(moments.slow + 2 * hour, 1_000, stayedSlow)),
]
const failed = { type: 'ExceptionWhileProcessing', normalized_query_hash: '21' }
const mixed = [
  ...repeat(9, () => ran(moments.mixed, 5, { read_bytes: 100, databases: ['shop'], normalized_query_hash: '20' })),
  ran(moments.mixed, 5_000, { read_bytes: 9_100, user: 'bob', tables: ['shop.a', 'system.one'] }),
  ran(moments.mixed, 1_000, { ...failed, exception_code: 394 }),
  ran(moments.mixed, 1_000, { ...failed, exception_code: 735 }),
  ran(moments.mixed, 1_000, { ...failed, exception_code: 159, user: 'bob' }),
  ran(moments.mixed, 1_000, { ...failed, exception_code: 47 }),
]
const part = (event_type: string, size_in_bytes: number, more: object = {}): object => ({
  event_type,
  event_date: dateOf(moments.parts),
  event_time: moments.parts,
  database: 'shop',
  table: 'a',
  rows: 10,
  size_in_bytes,
  ...more,
})
/** Statements that change a host, with the kind of change. Texts and clauses of other kinds must not decide. */
const changes = [
  ['Alter', "ALTER TABLE shop.a UPDATE note = 'settings' WHERE 1 SETTINGS mutations_sync = 1", 'Mutation'],
  ['Alter', 'alter table shop.`a b` on cluster c delete where user = 5', 'Mutation'],
  ['Alter', 'ALTER TABLE shop.a MATERIALIZE INDEX i', 'Mutation'],
  ['Create', 'CREATE TABLE shop.settings (profile String) ENGINE = Memory SETTINGS max_rows_to_keep = 5', 'Schema'],
  ['Create', 'CREATE OR REPLACE VIEW v AS SELECT quota FROM t SETTINGS max_threads = 1', 'Schema'],
  ['Alter', 'ALTER TABLE shop.a ADD COLUMN settings UInt8', 'Schema'],
  ['Drop', 'DROP TABLE user', 'Schema'],
  ['Alter', '-- a comment\n/* settings */ ALTER TABLE shop.a  MODIFY SETTING max_part_loading_threads = 4', 'Settings'],
  ['Create', 'CREATE SETTINGS PROFILE IF NOT EXISTS p SETTINGS max_threads = 1', 'Settings'],
  ['Drop', 'DROP PROFILE p', 'Settings'],
  ['Create', "CREATE USER u SETTINGS PROFILE 'p'", 'Access'],
  ['Create', 'CREATE QUOTA q FOR INTERVAL 1 hour MAX queries = 10', 'Access'],
  ['Grant', 'GRANT SELECT ON shop.settings TO u', 'Access'],
  ['System', 'SYSTEM RELOAD USERS', 'Server'],
] as const
const changed = changes.map(([query_kind, query], index) => ran(moments.changes + index, 10, { query, query_kind }))
const lives = [
  part('NewPart', 60),
  part('NewPart', 40, { table: 'b' }),
  part('MergeParts', 150),
  part('MutatePart', 50),
  part('RemovePart', 60),
  part('NewPart', 1_000, { database: 'system' }),
]
const view = (actor: string, data: string, extra: object, kind = 'PageView'): object => ({
  event_time: moments.busy,
  kind,
  actor,
  data,
  extra: JSON.stringify(extra),
})
const views = [
  view('ann', '/overview', { device: 'desktop', country: 'DE' }),
  view('ann', '/overview', { device: 'desktop', country: 'VN' }),
  view('bob', '/queries', { device: 'mobile', country: 'VN' }),
  view('crawler', '/overview', { bot: true }),
  view('ann', '/overview', {}, 'Login'),
]

beforeAll(async () => {
  sandbox = await startSandbox()
  await curl(sandbox.url, createEventsTableSql(defaultEventsTable))
  await insert('system.query_log', [...busySecond, ...regression, ...mixed, ...changed])
  await insert('system.part_log', lives)
  await insert(defaultEventsTable, views)
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: hostKey, SVC_QUERY_CACHE: 'off' })
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

/** Returns the rows of a chart for the hours from a given time. */
const rowsOf = async (name: string, from: number, hours = 1, parameters: Record<string, string | number> = {}) => {
  const request = { hostKey, name, parameters, timezone: 'UTC', from, to: from + hours * hour }
  return query.methods.chart.output.parse(await parts.handlers.chart(request, createCall())).rows
}

describe('charts of a known log', () => {
  it('find the second in which most queries ran', async () => {
    const [record] = await rowsOf('insight-busiest-second', moments.busy)
    expect(record).toEqual({ second: expect.stringMatching(/:05$/), queries: 3, started: 2 })
  })

  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'name days and seconds as the clocks of %s do',
    async (timezone) => {
      const read = async (name: string, from: number) => {
        const request = { hostKey, name, parameters: {}, from, to: from + 10, timezone }
        return query.methods.chart.output.parse(await parts.handlers.chart(request, createCall())).rows
      }
      const format = (second: number) => new Date(second * 1_000).toLocaleString('sv-SE', { timeZone: timezone })
      expect(await read('insight-busiest-day-queries', moments.mixed)).toMatchObject([
        { day: format(moments.mixed).slice(0, 10) },
      ])
      expect(await read('insight-busiest-second', moments.busy)).toMatchObject([{ second: format(moments.busy + 5) }])
    },
  )

  it('find queries that became slow, without those that always were', async () => {
    const rows = await rowsOf('slow-query-regressions', moments.slow, 3)
    expect(rows).toEqual([
      {
        fingerprint: '17',
        pattern: 'SELECT a FROM t WHERE b = ?',
        factor: 4.5,
        current_calls: 6,
        current_p95_ms: 900,
        current_average_ms: 900,
        baseline_calls: 6,
        baseline_p95_ms: 200,
        baseline_average_ms: 200,
      },
    ])
  })

  it('apply the thresholds of the request', async () => {
    expect(await rowsOf('slow-query-regressions', moments.slow, 3, { factor: 5 })).toEqual([])
    expect(await rowsOf('slow-query-regressions', moments.slow, 3, { min_calls: 7 })).toEqual([])
    expect(await rowsOf('slow-query-regressions', moments.slow, 3, { factor: 1.1 })).toHaveLength(2)
  })

  it('return the error rate and codes', async () => {
    expect(await rowsOf('insight-error-rate', moments.mixed)).toEqual([
      { rate: (100 * 4) / 14, errors: 4, queries: 14 },
    ])
    const codes = await rowsOf('query-insights-errors-by-code', moments.mixed, 1, { user: 'bob' })
    expect(codes).toEqual([{ error: 'TIMEOUT_EXCEEDED', errors: 1, code: 159, users: 1 }])
    expect(await rowsOf('cancelled-queries', moments.mixed)).toEqual([
      { time: moments.mixed * 1_000, cancelled: 2, timed_out: 1 },
    ])
  })

  it('group queries into classes, including empty ones', async () => {
    const rows = await rowsOf('query-insights-duration-distribution', moments.mixed)
    expect(rows.map((row) => [row.duration, row.queries])).toEqual([
      ['< 10 ms', 9],
      ['10–100 ms', 0],
      ['100 ms–1 s', 0],
      ['1–10 s', 5],
      ['10–60 s', 0],
      ['1–10 min', 0],
      ['≥ 10 min', 0],
    ])
  })

  it('count each second that the window covers', async () => {
    const [whole] = await rowsOf('query-insights-read-throughput', moments.mixed)
    expect(whole?.bytes).toBeCloseTo(10_000 / hour, 9)
    const tenSeconds = { from: moments.mixed, to: moments.mixed + 10, timezone: 'UTC' }
    const request = { hostKey, name: 'query-insights-qps', parameters: {}, ...tenSeconds }
    const { rows } = await parts.handlers.chart(request, createCall())
    expect(rows).toEqual([{ time: moments.mixed * 1_000, queries: 1.4, failed: 0.4 }])
  })

  it('filter by user, kind, database and client', async () => {
    const count = async (filter: Record<string, string>): Promise<number> => {
      const rows = await rowsOf('query-insights-operations', moments.mixed, 1, filter)
      return rows.reduce((sum, row) => sum + Number(row.queries), 0)
    }
    expect(await count({})).toBe(14)
    expect(await count({ user: 'bob' })).toBe(2)
    expect(await count({ database: 'shop' })).toBe(9)
    expect(await count({ kind: 'Insert' })).toBe(0)
    expect(await count({ client: 'curl' })).toBe(0)
  })

  it('omit the tables of own statements', async () => {
    const rows = await rowsOf('query-insights-hot-tables', moments.mixed)
    expect(rows).toEqual([{ table: 'shop.a', queries: 1, total_ms: 5_000, bytes: 9_100 }])
  })

  it('name changes by their leading words, not by their clauses', async () => {
    const rows = await rowsOf('host-changes', moments.changes)
    expect(rows.map((row) => row.kind)).toEqual(changes.map(([, , kind]) => kind))
  })

  it('show the history of parts', async () => {
    const time = moments.parts * 1_000
    expect(await rowsOf('part-log-lifecycle', moments.parts)).toEqual([
      { time, inserted: 2, merged: 1, mutated: 1, fetched: 0, removed: 1 },
    ])
    expect(await rowsOf('traffic-write-amplification', moments.parts)).toEqual([
      { time, amplification: 3, inserted: 100, rewritten: 200 },
    ])
    expect(await rowsOf('traffic-bytes-on-disk', moments.parts)).toEqual([
      { time, table: 'shop.a', bytes: 60 },
      { time, table: 'shop.b', bytes: 40 },
    ])
  })

  it('separate page views from other events, and people from bots', async () => {
    const from = moments.busy
    expect((await rowsOf('top-pages', from)).map((row) => [row.page, row.views, row.people])).toEqual([
      ['/overview', 3, 2],
      ['/queries', 1, 1],
    ])
    expect((await rowsOf('human-vs-bot-pageviews', from)).map((row) => [row.human, row.bot])).toEqual([[3, 1]])
    expect((await rowsOf('pageviews-by-country', from)).map((row) => [row.country, row.views])).toEqual([
      ['VN', 2],
      ['DE', 1],
      ['unknown', 1],
    ])
    expect((await rowsOf('pageviews-by-device', from)).map((row) => [row.device, row.views])).toEqual([
      ['desktop', 2],
      ['mobile', 1],
      ['unknown', 1],
    ])
  })
})
