import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import { openWatched, quietQuery } from '../testing/fleet.ts'
import { aCall } from '../testing/insights.ts'
import { mutation } from '../testing/rows.ts'
import { lookAt } from './look-at.ts'

type Rows = ReturnType<typeof quietQuery>['insightRows']

const noRows = { rows: [], sql: 'SELECT 1', unavailable: null }
const unreachable = new ServiceError('unavailable', 'host box does not answer')

/** Looks at one host that answers so, and does not say how it is. */
const look = async (rows: Rows, atMs = nowMs) => {
  await using opened = new AsyncDisposableStack()
  const hostStatus = async () => {
    throw unreachable
  }
  const { query } = await openWatched(opened, { query: { ...quietQuery('box'), hostStatus, insightRows: rows } })
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  return await lookAt({ query, store, call: aCall(), hostKey: 'box', nowMs: atMs })
}
const nowMs = Date.UTC(2026, 5, 1, 23, 59)
const stuck: Rows = async ({ set }) =>
  set === 'mutations' ? { ...noRows, rows: [mutation({ isFailing: true })], sql: 'SELECT 2' } : noRows

describe('looking at a host', () => {
  it('makes insights with all that they rest on', async () => {
    const { insights } = await look(stuck)
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

  it('gives an insight the same id all day, and another on the next', async () => {
    const ids = [nowMs - 3_600_000, nowMs, nowMs + 60_000].map(async (at) => (await look(stuck, at)).insights[0]?.id)
    const [before, now, next] = await Promise.all(ids)
    expect(before).toBe(now)
    expect(next).not.toBe(now)
  })

  it('says in words what a host without the log, or without a clock that is known, cannot tell', async () => {
    const { insights, notes } = await look(async ({ set }) => {
      if (set !== 'query-hours') return stuck({ hostKey: 'box', set }, aCall())
      const message = 'host box has no table system.query_log'
      return { ...noRows, unavailable: { reason: 'missing-table', message, missingTables: ['system.query_log'] } }
    })
    expect(insights).toHaveLength(1)
    expect(notes).toContain('query-hours: host box has no table system.query_log')
    expect(notes).toContain('clock: it is not known how far it is off')
  })

  it('goes on where one statement fails, and fails where every one does', async () => {
    const { insights, notes } = await look(async (input, call) => {
      if (input.set === 'tables') throw new ServiceError('timeout', 'host box took too long')
      return stuck(input, call)
    })
    expect(insights).toHaveLength(1)
    expect(notes).toContain('tables: host box took too long')
    const failing = look(async () => {
      throw unreachable
    })
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', message: unreachable.message })
  })
})
