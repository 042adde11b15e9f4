import { describe, expect, it } from 'vitest'
import { readFigures } from '../../hosts/keeper.ts'
import { keeperFaults, keeperTotals } from './keeper-figures.ts'

/** A node that is well. The lines are invented after the names that Keeper gives its figures. */
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
/** What it had counted one sweep ago. */
const before = keeperTotals(new Map(Object.entries(well)))
const faultsOf = (changes: Record<string, number>) => {
  const lines = Object.entries({ ...well, ...changes }).map(([name, value]) => `# HELP ${name} x\n${name} ${value}`)
  return keeperFaults(readFigures(lines.join('\n')), before).map(({ fault, isFailure }) => [fault, isFailure])
}

describe('a Keeper node', () => {
  it('has no fault when it is well', () => {
    expect(faultsOf({})).toEqual([])
  })

  it.each([
    ['it has lost its quorum', true, { ClickHouseAsyncMetrics_KeeperIsLeader: 0 }],
    ['no follower is in step with it', true, { ClickHouseAsyncMetrics_KeeperSyncedFollowers: 0 }],
    ['commits have failed', true, { ClickHouseProfileEvents_KeeperCommitsFailed: 4 }],
    [
      'it refuses writes for want of memory',
      false,
      { ClickHouseProfileEvents_KeeperRequestRejectedDueToSoftMemoryLimitCount: 3 },
    ],
    ['requests wait', false, { ClickHouseMetrics_KeeperOutstandingRequests: 11 }],
    [
      'it answers slowly',
      false,
      { ClickHouseProfileEvents_KeeperLatency: 1_510, ClickHouseProfileEvents_KeeperRequestTotal: 510 },
    ],
    ['its files run out', false, { ClickHouseAsyncMetrics_KeeperOpenFileDescriptorCount: 900 }],
  ])('has a fault: %s', (fault, isFailure, changes) => {
    expect(faultsOf(changes)).toEqual([[fault, isFailure]])
  })

  it('that stands alone needs no others', () => {
    const alone = { ClickHouseAsyncMetrics_KeeperIsStandalone: 1, ClickHouseAsyncMetrics_KeeperIsLeader: 0 }
    expect(faultsOf(alone)).toEqual([])
  })

  it('that began anew has counted nothing yet', () => {
    expect(faultsOf({ ClickHouseProfileEvents_KeeperCommitsFailed: 0 })).toEqual([])
  })

  it('gives figures of Keeper, or is none', () => {
    expect(keeperFaults(readFigures('<html>'), {}).map(({ fault }) => fault)).toEqual(['it gives no figures of Keeper'])
  })
})

it('adds up figures with labels, and leaves out what is no number', () => {
  expect(readFigures('a{x="1"} 2\na{x="2"} 3\nb NaN\nc 1e3 1700000000')).toEqual(
    new Map([
      ['a', 5],
      ['c', 1_000],
    ]),
  )
})
