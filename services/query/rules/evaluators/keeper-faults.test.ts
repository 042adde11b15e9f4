import { describe, expect, it } from 'vitest'
import { parsePrometheusMetrics } from '../../hosts/keeper-metrics.ts'
import { findKeeperFaults, readKeeperCounters } from './keeper-faults.ts'

/** Synthetic metrics of a healthy node, with the metric names of Keeper. */
const well = {
  ClickHouseAsyncMetrics_KeeperIsLeader: 1,
  ClickHouseAsyncMetrics_KeeperIsFollower: 0,
  ClickHouseAsyncMetrics_KeeperIsObserver: 0,
  ClickHouseAsyncMetrics_KeeperIsStandalone: 0,
  ClickHouseAsyncMetrics_KeeperFollowers: 2,
  ClickHouseAsyncMetrics_KeeperSyncedFollowers: 2,
  ClickHouseMetrics_KeeperOutstandingRequests: 1,
  ClickHouseAsyncMetrics_KeeperOpenFileDescriptorCount: 100,
  ClickHouseAsyncMetrics_KeeperMaxFileDescriptorCount: 1_000,
  ClickHouseProfileEvents_KeeperCommitsFailed: 3,
  ClickHouseProfileEvents_KeeperLatency: 1_000,
  ClickHouseProfileEvents_KeeperRequestTotal: 500,
}
/** The counters of the node one sweep ago. */
const before = readKeeperCounters(new Map(Object.entries(well)))
const faultsOf = (changes: Record<string, number>) => {
  const lines = Object.entries({ ...well, ...changes }).map(([name, value]) => `# HELP ${name} x\n${name} ${value}`)
  return findKeeperFaults(parsePrometheusMetrics(lines.join('\n')), before).map(({ fault, isFailure }) => [
    fault,
    isFailure,
  ])
}

describe('a Keeper node', () => {
  it('has no faults when healthy', () => {
    expect(faultsOf({})).toEqual([])
  })

  it.each([
    ['quorum lost', true, { ClickHouseAsyncMetrics_KeeperIsLeader: 0 }],
    ['no follower is in sync', true, { ClickHouseAsyncMetrics_KeeperSyncedFollowers: 0 }],
    ['commits failed', true, { ClickHouseProfileEvents_KeeperCommitsFailed: 4 }],
    [
      'writes rejected at the memory limit',
      false,
      { ClickHouseProfileEvents_KeeperRequestRejectedDueToSoftMemoryLimitCount: 3 },
    ],
    ['requests are queued', false, { ClickHouseMetrics_KeeperOutstandingRequests: 11 }],
    [
      'high request latency',
      false,
      { ClickHouseProfileEvents_KeeperLatency: 1_510, ClickHouseProfileEvents_KeeperRequestTotal: 510 },
    ],
    ['file descriptors nearly exhausted', false, { ClickHouseAsyncMetrics_KeeperOpenFileDescriptorCount: 900 }],
  ])('has a fault: %s', (fault, isFailure, changes) => {
    expect(faultsOf(changes)).toEqual([[fault, isFailure]])
  })

  it('needs no followers when standalone', () => {
    const alone = { ClickHouseAsyncMetrics_KeeperIsStandalone: 1, ClickHouseAsyncMetrics_KeeperIsLeader: 0 }
    expect(faultsOf(alone)).toEqual([])
  })

  it('has no growth after a restart', () => {
    expect(faultsOf({ ClickHouseProfileEvents_KeeperCommitsFailed: 0 })).toEqual([])
  })

  it('fails without Keeper metrics', () => {
    expect(findKeeperFaults(parsePrometheusMetrics('<html>'), {}).map(({ fault }) => fault)).toEqual([
      'no Keeper metrics',
    ])
  })
})

it('sums labelled metrics and skips non-numeric values', () => {
  expect(parsePrometheusMetrics('a{x="1"} 2\na{x="2"} 3\nb NaN\nc 1e3 1700000000')).toEqual(
    new Map([
      ['a', 5],
      ['c', 1_000],
    ]),
  )
})
