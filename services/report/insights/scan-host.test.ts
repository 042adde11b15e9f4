import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import { openClients, createQuietQueryHandlers } from '../testing/test-services.ts'
import { createUserCall } from '../testing/insights.ts'
import { createMutation } from '../testing/rows.ts'
import { scanHost } from './scan-host.ts'
import { withCurrentAges } from './with-current-ages.ts'

type Rows = ReturnType<typeof createQuietQueryHandlers>['insightRows']

const noRows = { rows: [], sql: 'SELECT 1', unavailable: null }
const unreachable = new ServiceError('unavailable', 'host box is unreachable')

/** Scans a host with these rows. The status of the host is unavailable. */
const scan = async (rows: Rows, atMs = nowMs) => {
  await using opened = new AsyncDisposableStack()
  const hostStatus = async () => {
    throw unreachable
  }
  const { query } = await openClients(opened, {
    query: { ...createQuietQueryHandlers('box'), hostStatus, insightRows: rows },
  })
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  return await scanHost({ query, store, call: createUserCall(), hostKey: 'box', nowMs: atMs })
}
const nowMs = Date.UTC(2026, 5, 1, 23, 59)
const stuck: Rows = async ({ set }) =>
  set === 'mutations' ? { ...noRows, rows: [createMutation({ isFailing: true })], sql: 'SELECT 2' } : noRows

describe('scanning a host', () => {
  it('returns complete insights', async () => {
    const { insights } = await scan(stuck)
    expect(insights).toMatchObject([
      {
        hostKey: 'box',
        kind: 'stuck-mutation',
        subject: 'shop.orders mutation_1.txt',
        day: '2026-06-01',
        window: 'now',
        evidenceSql: 'SELECT 2',
        link: '/tables/mutations',
        foundAtMs: nowMs,
        dismissed: null,
      },
    ])
  })

  it('stores instants, from which each reader computes the ages', async () => {
    const [insight] = (await scan(stuck)).insights
    if (!insight) throw new Error('the mutation was not found')
    const stored = `mutation_1.txt started {when:${nowMs - 60_000}}. It had 3 parts left when it was found.`
    expect(insight.detail).toBe(stored)
    const readAt = (atMs: number) => withCurrentAges(insight, atMs)
    expect(readAt(nowMs)).toMatchObject({
      detail: expect.stringContaining('started 60 s ago.'),
      detailTemplate: stored,
    })
    expect(readAt(nowMs + 3 * 3_600_000).detail).toContain('started 3.02 hours ago.')
    expect(readAt(nowMs - 3_600_000).detail).toContain('started in 59 minutes.')
    expect(withCurrentAges({ ...insight, detail: 'No {when:x}.' }, nowMs)).not.toHaveProperty('detailTemplate')
  })

  it('keeps the id of an insight for a day', async () => {
    const ids = [nowMs - 3_600_000, nowMs, nowMs + 60_000].map(async (at) => (await scan(stuck, at)).insights[0]?.id)
    const [before, now, next] = await Promise.all(ids)
    expect(before).toBe(now)
    expect(next).not.toBe(now)
  })

  it('adds notes for a missing log and an unknown clock', async () => {
    const { insights, notes } = await scan(async ({ set }) => {
      if (set !== 'query-hours') return stuck({ hostKey: 'box', set }, createUserCall())
      const message = 'host box has no table system.query_log'
      return { ...noRows, unavailable: { reason: 'missing-table', message, missingTables: ['system.query_log'] } }
    })
    expect(insights).toHaveLength(1)
    expect(notes).toContain('query-hours: host box has no table system.query_log')
    expect(notes).toContain('clock: not reported by this host')
  })

  it('continues if one statement fails, and fails if all do', async () => {
    const { insights, notes } = await scan(async (input, call) => {
      if (input.set === 'tables') throw new ServiceError('timeout', 'host box took too long')
      return stuck(input, call)
    })
    expect(insights).toHaveLength(1)
    expect(notes).toContain('tables: host box took too long')
    const failing = scan(async () => {
      throw unreachable
    })
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', message: unreachable.message })
  })
})
