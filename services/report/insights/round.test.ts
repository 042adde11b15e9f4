import { clockOf } from '#shared/time/clock.ts'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { memoryStore } from '../stores/store.ts'
import { openWatched, quietQuery } from '../testing/fleet.ts'
import { aCall } from '../testing/insights.ts'
import { mutation, patternDays } from '../testing/rows.ts'
import { round } from './round.ts'

type Query = ReturnType<typeof quietQuery>
const minuteMs = 60_000

/** A replica that looks at hosts; `looked` are those that were, in their order. */
const openReplica = async (
  opened: AsyncDisposableStack,
  { env = {}, query = {}, store }: { env?: Record<string, string>; query?: Partial<Query>; store?: Store } = {},
) => {
  let now = Date.UTC(2026, 5, 1)
  const clock = clockOf(() => now)
  const looked: string[] = []
  const insightRows: Query['insightRows'] = async (asked, call) => {
    if (asked.set === 'mutations') looked.push(asked.hostKey)
    return (query.insightRows ?? stuck)(asked, call)
  }
  const client = await openWatched(opened, { query: { ...quietQuery('one', 'two'), ...query, insightRows } }, clock)
  const kept = { store: memoryStore(), reason: null }
  const shared = store ?? opened.use(await openStore({ env: {}, busIsShared: false }))
  const parts = { query: client.query, env, clock, store: shared, kept, log: pino({ level: 'silent' }) }
  const run = () => round(parts, new AbortController().signal)
  return { run, looked, kept: kept.store, later: (minutes: number) => (now += minutes * minuteMs) }
}
const stuck: Query['insightRows'] = async ({ set }) => ({
  rows: set === 'mutations' ? [mutation({ isFailing: true })] : [],
  sql: 'SELECT 1',
  unavailable: null,
})

describe('looking at hosts by itself', () => {
  it('looks at every host as often as the interval says, and keeps what it finds', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, looked, kept, later } = await openReplica(opened)
    expect([await run(), await run()]).toEqual([2, 0])
    later(59)
    expect(await run()).toBe(0)
    later(1)
    expect(await run()).toBe(2)
    expect(looked.toSorted()).toEqual(['one', 'one', 'two', 'two'])
    const call = aCall()
    expect(await kept.list({ hostKey: 'one', sinceMs: 0, limit: 10 }, call)).toMatchObject([{ kind: 'stuck-mutation' }])
  })

  it('is done by one of several replicas', async () => {
    await using opened = new AsyncDisposableStack()
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    const [one, other] = [await openReplica(opened, { store }), await openReplica(opened, { store })]
    const [mine, theirs] = await Promise.all([one.run(), other.run()])
    expect(mine + theirs).toBe(2)
    expect([...one.looked, ...other.looked].toSorted()).toEqual(['one', 'two'])
  })

  it('waits as long for a host that failed, and leaves out one that is down', async () => {
    await using opened = new AsyncDisposableStack()
    const failing = async () => {
      throw new ServiceError('timeout', 'host took too long')
    }
    const { run, looked } = await openReplica(opened, {
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
    expect(looked).toEqual(['one'])
  })

  it('compares the hosts of a group by what each of them told when it was looked at', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, kept, later } = await openReplica(opened, {
      query: {
        hosts: quietQuery('one', 'two', 'three').hosts,
        insightRows: async ({ hostKey, set }) => {
          const p95Ms = hostKey === 'one' ? 3_000 : 300
          const rows = set === 'fingerprint-days' ? patternDays().map((day) => ({ ...day, p95Ms })) : []
          return { rows, sql: 'SELECT 1', unavailable: null }
        },
      },
    })
    await run()
    later(60)
    await run()
    const found = await Promise.all(
      ['one', 'two', 'three'].map((hostKey) => kept.list({ hostKey, sinceMs: 0, limit: 10 }, aCall())),
    )
    expect(found.map((insights) => insights.map(({ kind }) => kind))).toEqual([['pattern-skew'], [], []])
  })

  it('is not put off by a clock that is set back', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, later } = await openReplica(opened)
    await run()
    later(-600)
    expect(await run()).toBe(2)
  })

  it('is left to people where the interval is 0', async () => {
    await using opened = new AsyncDisposableStack()
    const { run } = await openReplica(opened, { env: { SVC_INSIGHTS_INTERVAL_MINUTES: '0' } })
    expect(await run()).toBe(0)
  })
})
