import { afterAll, beforeAll, expect, it } from 'vitest'
import { reportRowSets } from '#proto/report-rows.ts'
import { query } from '#proto/query.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { reportStatements } from './report-rows.ts'

const startLimitMs = 180_000
let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url].join(','),
    COLUMNDB_NAME: 'box,limited',
    COLUMNDB_USER: 'default,reports',
    COLUMNDB_PASSWORD: ',reports',
  })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const weekMs = 7 * 86_400_000
const read = (hostKey: string, set: string) => {
  const toMs = Date.now()
  const request = query.methods.reportRows.input.parse({ hostKey, set, fromMs: toMs - weekMs, toMs })
  return parts.handlers.reportRows(request, createCall())
}

it.each(Object.entries(reportRowSets))('%s can be read and matches its schema', async (set, schema) => {
  const { rows, unavailable } = await read('box', set)
  expect(unavailable).toBeNull()
  for (const row of rows) expect(schema.safeParse(row).success).toBe(true)
  expect(Object.keys(reportStatements)).toContain(set)
})

it('explains a missing grant', async () => {
  const { rows, unavailable } = await read('limited', 'patterns')
  expect([rows, unavailable?.message]).toEqual([[], expect.stringContaining('system.query_log')])
})

it.each([
  ['backwards', 5, 4],
  ['longer than 92 days', 0, 93 * 86_400_000],
])('refuses a period that is %s', (_what, fromMs, toMs) => {
  expect(query.methods.reportRows.input.safeParse({ hostKey: 'box', set: 'peaks', fromMs, toMs }).success).toBe(false)
})
