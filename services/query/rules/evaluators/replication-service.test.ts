import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { computeSlotLagGrowth } from '../../repldb/slots.ts'
import { updateSnapshotProgress } from '../../repldb/overview.ts'
import { createEvaluatorInput } from '../../testing/evaluator-input.ts'
import { createCall, openTestService, type TestService } from '../../testing/test-service.ts'
import { createShopFleet } from '../../testing/replication-fleet.ts'
import { type SimulatedReplicationService, startReplicationService } from '../../testing/replication-service.ts'
import { SweepState } from '../sweep-state.ts'
import type { Measurement } from '../measurement.ts'
import { replicationServiceEvaluators } from './replication-service.ts'

let service: SimulatedReplicationService
let parts: TestService
const env: Record<string, string> = { COLUMNDB_HOST: 'http://127.0.0.1:9', REPLDB_CACHE_TTL_MS: '0' }
beforeAll(async () => {
  service = await startReplicationService()
  parts = await openTestService(env)
})
beforeEach(() => {
  env.REPLDB_API_URL = service.url
  service.fleet = createShopFleet()
  service.failing = undefined
})
afterAll(async () => {
  await parts[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const evaluated = async (name: string, earlier = SweepState.parse({}), nowMs = Date.now()) => {
  const evaluator = replicationServiceEvaluators[name]
  if (!evaluator) throw new Error(`unknown evaluator "${name}"`)
  return evaluator(
    createEvaluatorInput({ replicationService: parts.replicationService, call: createCall(), earlier, nowMs }),
  )
}
const measuredBy = async (name: string): Promise<Measurement> => (await evaluated(name)).measured

describe('the evaluators of the replication service', () => {
  it.each([
    ['repldb-unreachable', 0, []],
    ['repldb-mirror-failed', 1, ['billing']],
    ['repldb-mirror-paused', 1, ['users']],
    ['repldb-slot-lag', 2_400 * 1_048_576, ['shop_source/peerflow_slot_billing', 'shop_source/peerflow_slot_orders']],
    ['repldb-log-errors', 3, ['billing', 'users']],
    ['repldb-snapshot-stalled', 0, []],
  ])('%s is %i of %j', async (name, value, offenders) => {
    expect(await measuredBy(name)).toMatchObject({ value, offenders, reason: null })
  })

  it('measure the lag growth of a slot', async () => {
    const growth = await measuredBy('repldb-slot-lag-growth')
    // The lag grows by 200 MiB every five minutes.
    expect(growth.value).toBeCloseTo(2_400 * 1_048_576, -7)
    expect(growth.offenders).toContain('shop_source/peerflow_slot_billing')
  })

  it('measure 0 without faults', async () => {
    service.fleet = { mirrors: [], slots: [], logs: [] }
    const names = Object.keys(replicationServiceEvaluators)
    expect(await Promise.all(names.map(async (name) => (await measuredBy(name)).value))).toEqual(names.map(() => 0))
  })

  it('measure how long a snapshot has stalled', async () => {
    const first = await evaluated('repldb-snapshot-stalled', undefined, 1_000_000)
    const earlier = SweepState.parse(first.changes)
    const later = await evaluated('repldb-snapshot-stalled', earlier, 4_600_000)
    expect(later.measured).toMatchObject({ value: 3_600, offenders: ['events'] })
    const copying = service.fleet.mirrors.find(({ name }) => name === 'events')
    service.fleet.mirrors = copying
      ? [{ ...copying, clones: copying.clones.map((each) => ({ ...each, done: 40 })) }]
      : []
    expect((await evaluated('repldb-snapshot-stalled', earlier, 4_600_000)).measured.value).toBe(0)
    service.fleet.mirrors = []
    expect((await evaluated('repldb-snapshot-stalled', earlier, 4_600_000)).changes).toEqual({ copies: {} })
  })

  it('have no value for an unreachable service, except for reachability', async () => {
    service.failing = 500
    expect(await measuredBy('repldb-unreachable')).toMatchObject({ value: 1 })
    for (const name of Object.keys(replicationServiceEvaluators).filter((each) => each !== 'repldb-unreachable')) {
      expect(await measuredBy(name)).toMatchObject({
        value: null,
        reason: expect.stringContaining('replication service'),
      })
    }
  })
})

describe('rules about the replication service', () => {
  const idsOf = async () =>
    (await parts.handlers.rules({}, createCall())).rules.filter(({ id }) => id.startsWith('repldb-'))

  it('are listed where it is configured', async () => {
    const rules = await idsOf()
    expect(rules.map(({ id }) => id).toSorted()).toEqual(Object.keys(replicationServiceEvaluators).toSorted())
    expect(rules.filter(({ once }) => !once)).toEqual([])
    env.REPLDB_API_URL = ''
    expect(await idsOf()).toEqual([])
  })

  it('measure the lag growth of the other slots if the history of one is unreadable', async () => {
    const [unreadable, ...others] = service.fleet.slots
    service.fleet.slots = [Object.assign({}, unreadable, { history: [{ ago: 'unreadable', lagMb: 1 }] }), ...others]
    expect((await measuredBy('repldb-slot-lag-growth')).offenders).toEqual(['shop_source/peerflow_slot_billing'])
  })

  it('are evaluated for an unreachable host', async () => {
    const [host] = parts.hosts.list()
    const rules = ['repldb-mirror-failed', 'repldb-slot-lag']
    const { readings } = await parts.handlers.evaluateRules(
      { hostKey: host?.key ?? '', rules, metrics: [] },
      createCall(),
    )
    expect(readings.map(({ id, value }) => [id, value])).toEqual([
      ['repldb-mirror-failed', 1],
      ['repldb-slot-lag', 2_400 * 1_048_576],
    ])
  })
})

describe('the growth of a slot', () => {
  const points = (...sizes: number[]) =>
    sizes.map((size, index) => ({ time: index * 60_000, size, redoLSN: '', restartLSN: '', confirmedLSN: '' }))

  it.each([
    ['too few points', points(1, 2, 3, 4), undefined],
    ['points of one moment', points(1, 2, 3, 4, 5).map((point) => ({ ...point, time: 7 })), undefined],
    ['a level', points(3, 3, 3, 3, 3), 0],
    ['a megabyte a minute', points(0, 0.001, 0.002, 0.003, 0.004), 60 * 1_048_576],
    ['catching up', points(0.004, 0.003, 0.002, 0.001, 0), -60 * 1_048_576],
  ])('of %s', (_what, given, expected) => expect(computeSlotLagGrowth(given)).toBe(expected))
})

it('tracks the last progress of a snapshot', () => {
  const before = { a: { done: 5, sinceMs: 1 }, b: { done: 5, sinceMs: 1 }, gone: { done: 1, sinceMs: 1 } }
  const copies = [
    { mirror: 'a', done: 5 },
    { mirror: 'b', done: 6 },
    { mirror: 'c', done: 0 },
  ]
  expect(updateSnapshotProgress(copies, before, 9)).toEqual({
    a: { done: 5, sinceMs: 1 },
    b: { done: 6, sinceMs: 9 },
    c: { done: 0, sinceMs: 9 },
  })
})
