import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Client } from '#proto/contract.ts'
import type { Asking } from '../asking.ts'
import { analyzePerformance } from './analyze-performance.ts'

type RunQuery = Client<typeof query>['runQuery']

const facts = {
  queryId: '',
  durationMs: 1,
  rows: 0,
  rowsRead: 0,
  bytesRead: 0,
  host: 'one',
  clickhouseVersion: '26.7.2.1',
  timezone: null,
}

/** Asks a host that answers each statement as `rowsOf` says. */
const asking = (rowsOf: (sql: string) => [string, number][]): Asking => {
  const runQuery: RunQuery = async ({ query: sql }) => ({
    columns: [
      { name: 'name', type: 'String' },
      { name: 'value', type: 'Float64' },
    ],
    rows: rowsOf(sql),
    truncated: null,
    statement: { ...facts, sql },
  })
  return {
    // Nothing else is asked of it.
    query: { runQuery } as Asking['query'],
    report: {} as Asking['report'],
    hosts: async () => [{ id: 0, key: 'one', name: 'one', host: 'one', group: null, tags: [] }],
    call: {
      identity: { kind: 'user', subject: 'tester', features: 'all' },
      deadline: 30_000,
      signal: new AbortController().signal,
      priority: 'person',
    },
    fullStatements: false,
  }
}

it('claims no figure that the host does not tell', async () => {
  const { text, structured } = await analyzePerformance.run(
    {},
    asking(() => []),
  )
  expect(structured).toMatchObject({
    severity: 'unknown',
    findings: [
      { check: 'slow-queries', severity: 'ok', value: 0 },
      { check: 'parts-per-partition', severity: 'ok', value: 0 },
      { check: 'merge-backlog', severity: 'ok', value: 0 },
      { check: 'memory', severity: 'unknown', value: null },
      { check: 'disk', severity: 'unknown', value: null },
    ],
  })
  expect(text).toBe(
    'one: unknown. The host does not tell how much memory there is and is used. The host has no local disk whose size it tells.',
  )
})

it('tells of the checks that succeed what they found, and of the other why it failed', async () => {
  const { text } = await analyzePerformance.run(
    {},
    asking((sql) => {
      if (sql.includes('system.parts')) throw new ServiceError('timeout', 'host one did not answer in time')
      return [['it', 85]]
    }),
  )
  expect(text).toBe(
    'one: critical. The slowest query of the last day took 85.0 s. parts-per-partition is not known: host one did not answer in time. Memory is used to 85.0 %. The fullest disk is used to 85.0 %.',
  )
})

it('fails as the host does when it answers nothing', async () => {
  const failure = new ServiceError('unavailable', 'host one cannot be reached')
  const failing = asking(() => {
    throw failure
  })
  await expect(analyzePerformance.run({}, failing)).rejects.toBe(failure)
})
