import { createClock } from '#shared/time/clock.ts'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { createMemoryInsightStore } from '../stores/store.ts'
import { openClients, createQuietQueryHandlers } from '../testing/test-services.ts'
import { createUserCall } from '../testing/insights.ts'
import { createMutation, createPatternDays } from '../testing/rows.ts'
import { scanDueHosts } from './schedule.ts'

type Query = ReturnType<typeof createQuietQueryHandlers>
const minuteMs = 60_000

/** Opens a `report` process with scheduled scans. `scanned` lists the scanned hosts in order. */
const openReplica = async (
  opened: AsyncDisposableStack,
  { env = {}, query = {}, store }: { env?: Record<string, string>; query?: Partial<Query>; store?: Store } = {},
) => {
  let now = Date.UTC(2026, 5, 1)
  const clock = createClock(() => now)
  const scanned: string[] = []
  const insightRows: Query['insightRows'] = async (input, call) => {
    if (input.set === 'mutations') scanned.push(input.hostKey)
    return (query.insightRows ?? stuck)(input, call)
  }
  const client = await openClients(
    opened,
    { query: { ...createQuietQueryHandlers('one', 'two'), ...query, insightRows } },
    clock,
  )
  const insightStore = { store: createMemoryInsightStore(), reason: null }
  const shared = store ?? opened.use(await openStore({ env: {}, busIsShared: false }))
  const deps = { query: client.query, env, clock, store: shared, insightStore, log: pino({ level: 'silent' }) }
  const run = () => scanDueHosts(deps, new AbortController().signal)
  return { run, scanned, insights: insightStore.store, later: (minutes: number) => (now += minutes * minuteMs) }
}
const stuck: Query['insightRows'] = async ({ set }) => ({
  rows: set === 'mutations' ? [createMutation({ isFailing: true })] : [],
  sql: 'SELECT 1',
  unavailable: null,
})

describe('scheduled scans', () => {
  it('scan every host once per interval and store the insights', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, scanned, insights, later } = await openReplica(opened)
    expect([await run(), await run()]).toEqual([2, 0])
    later(59)
    expect(await run()).toBe(0)
    later(1)
    expect(await run()).toBe(2)
    expect(scanned.toSorted()).toEqual(['one', 'one', 'two', 'two'])
    const call = createUserCall()
    expect(await insights.list({ hostKey: 'one', sinceMs: 0, limit: 10 }, call)).toMatchObject([
      { kind: 'stuck-mutation' },
    ])
  })

  it('run on one of several replicas', async () => {
    await using opened = new AsyncDisposableStack()
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    const [one, other] = [await openReplica(opened, { store }), await openReplica(opened, { store })]
    const [mine, theirs] = await Promise.all([one.run(), other.run()])
    expect(mine + theirs).toBe(2)
    expect([...one.scanned, ...other.scanned].toSorted()).toEqual(['one', 'two'])
  })

  it('scan a failed host again after the interval and skip unreachable hosts', async () => {
    await using opened = new AsyncDisposableStack()
    const failing = async () => {
      throw new ServiceError('timeout', 'host took too long')
    }
    const { run, scanned } = await openReplica(opened, {
      query: {
        insightRows: failing,
        hostStates: async () => [
          {
            key: 'two',
            id: 1,
            name: 'two',
            status: 'down',
            reason: 'timeout',
            version: null,
            uptimeSeconds: null,
            latencyMs: null,
            checkedAtMs: null,
          },
        ],
      },
    })
    expect([await run(), await run()]).toEqual([1, 0])
    expect(scanned).toEqual(['one'])
  })

  it('compare the hosts of a group by the figures of their last scans', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, insights, later } = await openReplica(opened, {
      query: {
        hosts: createQuietQueryHandlers('one', 'two', 'three').hosts,
        insightRows: async ({ hostKey, set }) => {
          const p95Ms = hostKey === 'one' ? 3_000 : 300
          const rows = set === 'fingerprint-days' ? createPatternDays().map((day) => ({ ...day, p95Ms })) : []
          return { rows, sql: 'SELECT 1', unavailable: null }
        },
      },
    })
    await run()
    later(60)
    await run()
    const found = await Promise.all(
      ['one', 'two', 'three'].map((hostKey) => insights.list({ hostKey, sinceMs: 0, limit: 10 }, createUserCall())),
    )
    expect(found.map((ofHost) => ofHost.map(({ kind }) => kind))).toEqual([['pattern-skew'], [], []])
  })

  it('are not delayed by a clock that is set back', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, later } = await openReplica(opened)
    await run()
    later(-600)
    expect(await run()).toBe(2)
  })

  it('are disabled if the interval is 0', async () => {
    await using opened = new AsyncDisposableStack()
    const { run } = await openReplica(opened, { env: { SVC_INSIGHTS_INTERVAL_MINUTES: '0' } })
    expect(await run()).toBe(0)
  })
})
