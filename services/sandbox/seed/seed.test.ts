import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { curl } from '../curl.ts'
import { type Sandbox, startSandbox } from '../start.ts'

const root = mkdtempSync(join(tmpdir(), 'sandbox-seed-'))
let sandbox: Sandbox
let other: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'sandbox-1', seed: true, directory: join(root, 'one') })
  other = await startSandbox({ label: 'sandbox-2', seed: true, directory: join(root, 'two') })
  await Promise.all([sandbox.seeded, other.seeded])
}, 120_000)
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

const value = async (sql: string, host = sandbox): Promise<string> => (await curl(host.url, sql)).text.trim()

it('creates databases, tables and parts of several kinds', async () => {
  expect(
    await value(
      "SELECT arraySort(groupArray(name)) FROM system.databases WHERE name IN ('shop', 'telemetry', 'archive')",
    ),
  ).toBe("['archive','shop','telemetry']")
  expect(
    Number(await value("SELECT count() FROM system.parts WHERE active AND database = 'telemetry'")),
  ).toBeGreaterThan(50)
  for (const table of ['projections', 'data_skipping_indices', 'dictionaries', 'detached_parts'])
    expect(Number(await value(`SELECT count() FROM system.${table}`)), table).toBeGreaterThan(0)
})

it('creates completed mutations and a stuck one', async () => {
  expect(Number(await value('SELECT count() FROM system.mutations WHERE is_done'))).toBeGreaterThan(1)
  expect(
    await value('SELECT database, table, latest_fail_error_code_name FROM system.mutations WHERE NOT is_done'),
  ).toBe('archive\timports\tCANNOT_PARSE_TEXT')
})

it('runs statements of several users, including slow and failing ones', async () => {
  await curl(sandbox.url, 'SYSTEM FLUSH LOGS')
  const real = "FROM system.query_log WHERE hostname != 'seeded'"
  expect(Number(await value(`SELECT uniq(user) ${real} AND user IN ('reports', 'analyst', 'ingest', 'default')`))).toBe(
    4,
  )
  expect(Number(await value(`SELECT max(query_duration_ms) ${real} AND user = 'reports'`))).toBeGreaterThan(1900)
  expect(
    await value(
      `SELECT arraySort(groupUniqArray(exception_code)) ${real} AND exception_code IN (6, 47, 60, 62, 159, 241, 497)`,
    ),
  ).toBe('[6,47,60,62,159,241,497]')
  expect(
    await value("SELECT groupUniqArray(toString(status)) FROM system.backup_log WHERE status = 'BACKUP_CREATED'"),
  ).toBe("['BACKUP_CREATED']")
  expect(Number(await value('SELECT count() FROM system.query_views_log'))).toBeGreaterThan(0)
  expect(Number(await value("SELECT count() FROM system.session_log WHERE type = 'LoginFailure'"))).toBeGreaterThan(0)
})

it('adds three days of history, marked as such', async () => {
  for (const table of ['query_log', 'part_log', 'metric_log', 'asynchronous_metric_log'])
    expect(
      Number(
        await value(`SELECT dateDiff('hour', min(event_time), now()) FROM system.${table} WHERE hostname = 'seeded'`),
      ),
      table,
    ).toBeGreaterThanOrEqual(70)
  expect(
    await value(
      "SELECT count() FROM system.query_log WHERE (hostname = 'seeded') != (log_comment = 'sandbox: seeded history')",
    ),
  ).toBe('0')
  expect(await value("SELECT count() FROM system.query_log WHERE hostname = 'seeded' AND event_time > now()")).toBe('0')
})

it('adds different amounts to two hosts', async () => {
  for (const sql of [
    'SELECT count() FROM shop.orders',
    "SELECT count() FROM system.query_log WHERE hostname = 'seeded'",
  ])
    expect(await value(sql)).not.toBe(await value(sql, other))
})

it('seeds only once', async () => {
  const before = await value('SELECT count() FROM shop.orders')
  await sandbox[Symbol.asyncDispose]()
  sandbox = await startSandbox({ label: 'sandbox-1', seed: true, directory: join(root, 'one') })
  await sandbox.seeded
  expect(await value('SELECT count() FROM shop.orders')).toBe(before)
  expect(await value('SELECT count() FROM system.mutations WHERE NOT is_done')).toBe('1')
})
