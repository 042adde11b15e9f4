// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { queryClickHouse } from '../testing/fetch-json.ts'
import { startSeededHost } from '../testing/seeded-hosts.ts'
import { reserveFreePort } from '../testing/servers/port.ts'
import { recordWithKills } from './history/kills.ts'

/** The recorder begins this long ago, so that it has many batches to catch up. */
const hours = 8
const kills = 10

it('records each row once although the recorder and the history server are killed', async () => {
  await using scope = new AsyncDisposableStack()
  const host = scope.use(await startSeededHost('one'))
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-history-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const port = await reserveFreePort()
  const start = () => startSandbox({ label: 'history', directory, port })
  let history: Sandbox = await start()
  scope.defer(() => history[Symbol.asyncDispose]())
  await startInThePast(history.url)
  const restartHistory = async () => {
    process.kill(history.pid, 'SIGKILL')
    await history[Symbol.asyncDispose]()
    history = await start()
  }
  const differences = await recordWithKills({ hostUrl: host.url, historyUrl: history.url, kills, restartHistory })
  expect(differences).toMatchObject({ gaps: 0, overlaps: 0, seconds: 0, calls: 0 })
  expect(differences.recordedCalls).toBeGreaterThan(100)
  expect(differences.batches).toBeGreaterThan(hours * 6)
}, 600_000)

/** Inserts watermarks of the past into tables that the product would create too. */
const startInThePast = async (url: string): Promise<void> => {
  const { createSchemaStatements } = await import('../query/history/schema.ts')
  const { readHistoryConfig } = await import('../query/history/settings.ts')
  const config = readHistoryConfig({ SVC_HISTORY_URL: url })
  if (!config) throw new Error('no history configured')
  await queryClickHouse(url, `CREATE DATABASE ${config.database}`)
  for (const sql of createSchemaStatements(config).values()) await queryClickHouse(url, sql)
  const mark = `'box', now() - toIntervalHour(${hours}), now() - toIntervalHour(${hours}), 1`
  for (const [table, columns, values] of [
    ['samples', ', label', ", 'metrics'"],
    ['query_patterns', '', ''],
  ])
    await queryClickHouse(
      url,
      `INSERT INTO watchhouse.${table} (host, time, until, recorded_ms${columns}) SELECT ${mark}${values}`,
    )
}
