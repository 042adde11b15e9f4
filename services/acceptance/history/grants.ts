import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { insertBatch } from '../../query/history/watermarks.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { historyUser, openHistory, openInstallation } from './open-history.ts'
import { startRealServer } from './real-server.ts'
import type { Report } from './report.ts'

const guide = await readFile(join(import.meta.dirname, '../../../web/docs/7-deployment.md'), 'utf8')
const [, section = ''] = /\n## History\n([\s\S]*?)\n## /.exec(guide) ?? []

/** Returns the privileges of the guide's statement whose target is this. */
const readGrants = (target: string): string[] => {
  const [, list = ''] = new RegExp(`GRANT ([A-Z, ]+) ON ${target.replaceAll('*', '\\*')} TO`).exec(section) ?? []
  const privileges = list.split(', ').filter(Boolean)
  if (privileges.length === 0) throw new Error(`the guide has no GRANT … ON ${target}`)
  return privileges.map((privilege) => `${privilege} ON ${target}`)
}

/** The documented grants of the user of the history, on a single server and on a cluster. */
export const serverGrants = readGrants('watchhouse.*')
export const clusterGrants = [...serverGrants, ...readGrants('*.*')]

/** Creates the database of the history and a user with these grants. */
export const createHistoryUser = async (url: string, grants: readonly string[]): Promise<void> => {
  const { user, password } = historyUser
  await queryClickHouse(url, 'CREATE DATABASE IF NOT EXISTS watchhouse')
  await queryClickHouse(url, `CREATE USER OR REPLACE ${user} IDENTIFIED BY '${password}'`)
  for (const grant of grants) await queryClickHouse(url, `GRANT ${grant} TO ${user}`)
}

/** Returns the failure of a step as a message; `none` if it succeeds. */
export const failureOf = (step: Promise<unknown>): Promise<string> =>
  step.then(
    () => 'none',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

const nowSeconds = Math.floor(Date.now() / 1_000)
const batch = {
  host: 'box',
  source: { name: 'metrics', table: 'samples' },
  before: undefined,
  period: { from: nowSeconds - 60, until: nowSeconds },
  rows: [{ metric: 'm', time: nowSeconds - 60, sum: 1, count: 1, highest: 1 }],
  recordedMs: 1,
} as const

/** Runs the store with exactly the documented grants, and without each of them. */
export const checkGrants = async (version: string, report: Report): Promise<void> => {
  await using server = await startRealServer(version, 'history')
  const use = async (grants: readonly string[]): Promise<void> => {
    await queryClickHouse(server.url, 'DROP DATABASE IF EXISTS watchhouse SYNC')
    await createHistoryUser(server.url, grants)
    await using store = await openInstallation()
    await using first = openHistory(store, server.url)
    await insertBatch(first, batch)
    const sum = "SELECT sum(sum) AS sum FROM {table:samples} WHERE metric = 'm'"
    assert.deepEqual(await first.select(sum, z.unknown()), [{ sum: 1 }])
    // A later version adds a column, with another retention.
    await queryClickHouse(server.url, 'ALTER TABLE watchhouse.log_lines DROP COLUMN logger')
    await using second = openHistory(store, server.url, { SVC_HISTORY_RETENTION: '1d,2d,3d' })
    await second.select('SELECT logger FROM {table:log_lines}', z.unknown())
  }
  await report(`${version}: works with the documented grants`, () => use(serverGrants))
  for (const dropped of serverGrants) {
    await report(`${version}: names the missing grant ${dropped}`, async () => {
      const [word = ''] = dropped.split(/ TABLE| ON /)
      const failure = await failureOf(use(serverGrants.filter((grant) => grant !== dropped)))
      assert.match(failure, new RegExp(`the user "watchhouse" lacks the grant .*\\b${word}\\b`))
      return failure
    })
  }
}
