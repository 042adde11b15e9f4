import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insightRowSets } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import { query } from '#proto/query.ts'
import { createInsight } from '../../testing/samples.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { insightStatements } from './handlers.ts'

const startLimitMs = 180_000
let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  await fetchText(sandbox.url, 'CREATE DATABASE kept')
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url, sandbox.url].join(','),
    COLUMNDB_NAME: 'box,careful,limited',
    COLUMNDB_USER: 'default,analyst,reports',
    COLUMNDB_PASSWORD: ',analyst,reports',
    COLUMNDB_DATABASE: 'kept',
  })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const idOf = (letter: string): string => createInsight(letter).id

describe('the rows of detectors', () => {
  it.each(Object.keys(insightStatements))('%s can be read and match their schema', async (set) => {
    const request = query.methods.insightRows.input.parse({ hostKey: 'box', set })
    const { rows, sql, unavailable } = await parts.handlers.insightRows(request, createCall())
    expect(unavailable).toBeNull()
    expect(sql).not.toContain('$')
    for (const row of rows) expect(insightRowSets[request.set].safeParse(row).success).toBe(true)
  })

  it('that the user may not read are empty, with the reason', async () => {
    const request = { hostKey: 'limited', set: 'query-hours' as const }
    const { rows, unavailable } = await parts.handlers.insightRows(request, createCall())
    expect(rows).toEqual([])
    expect(unavailable).toMatchObject({ message: expect.stringContaining('system.query_log') })
  })
})

describe('the table of insights', () => {
  const stored = (more: { sinceMs?: number; ids?: string[]; limit?: number } = {}) =>
    parts.handlers.storedFindings({ hostKey: 'box', sinceMs: 0, limit: 100, ...more }, createCall())
  const keep = (insights: Insight[], version: number, hostKey = 'box') =>
    parts.handlers.keepFindings({ hostKey, insights, version }, createCall())

  it('is created with the first insight', async () => {
    expect(await stored()).toEqual([])
    expect(await parts.handlers.pruneFindings({ hostKey: 'box', beforeMs: 1 }, createCall())).toEqual({ removed: 0 })
    expect(await keep([createInsight('a'), createInsight('b', { foundAtMs: 1_780_000_000_124 })], 1)).toEqual({
      kept: 2,
    })
    expect(await stored()).toEqual([createInsight('b', { foundAtMs: 1_780_000_000_124 }), createInsight('a')])
    expect(await stored({ ids: [idOf('a'), idOf('e')] })).toEqual([createInsight('a')])
  })

  it('causes no failed statement, whether it exists or not', async () => {
    await fetchText(sandbox.url, 'SYSTEM FLUSH LOGS query_log')
    const failed = `http_user_agent = 'watchhouse' AND exception_code = 60 AND log_comment LIKE '%insights/%'`
    expect(await fetchText(sandbox.url, `SELECT log_comment FROM system.query_log WHERE ${failed}`)).toBe('')
  })

  it('is created again after removal', async () => {
    await fetchText(sandbox.url, 'RENAME TABLE kept.monitoring_findings TO kept.removed')
    expect(await stored()).toEqual([])
    expect(await keep([createInsight('f')], 1)).toEqual({ kept: 1 })
    expect(await stored()).toEqual([createInsight('f')])
    await fetchText(sandbox.url, 'DROP TABLE kept.monitoring_findings SYNC')
    expect(await keep([createInsight('c')], 1)).toEqual({ kept: 1 })
    expect(await stored()).toEqual([createInsight('c')])
    await fetchText(sandbox.url, 'EXCHANGE TABLES kept.removed AND kept.monitoring_findings')
  })

  it('returns the last version of an insight', async () => {
    const dismissed = createInsight('a', { dismissed: { by: 'ada', atMs: 5 } })
    await keep([dismissed], 3)
    await keep([createInsight('a')], 2)
    expect(await stored({ ids: [idOf('a')] })).toEqual([dismissed])
  })

  it('deletes old insights', async () => {
    expect(await parts.handlers.pruneFindings({ hostKey: 'box', beforeMs: 1_780_000_000_124 }, createCall())).toEqual({
      removed: 1,
    })
    expect((await stored()).map(({ id }) => id)).toEqual([idOf('b')])
  })

  it.each(['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'drops the injected link %s',
    async (link) => {
      await keep([createInsight('c', { link })], 4)
      expect(await stored({ ids: [idOf('c')] })).toEqual([createInsight('c', { link: '' })])
    },
  )

  it('is not written by a read-only user, with the reason', async () => {
    await expect(keep([createInsight('c')], 1, 'careful')).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('read-only'),
    })
  })
})
