import { describe, expect, it } from 'vitest'
import {
  computeDiskShares,
  formatDiskFullDates,
  formatTimeUntilFull,
  computeGrowth,
  readDisks,
  readDiskHistory,
  evaluateDiskSeverity,
} from './disks.ts'
import { createExampleForecast } from './example-forecast.ts'

const row = { disk: 'default', type: 'Local', path: '/data/', used: '850', free: '150', total: '1000', reserved: '50' }
const [disk] = readDisks([row])
const nowMs = Date.UTC(2026, 10, 22)

describe('disk', () => {
  it('has used, reserved and available shares', () => {
    expect(disk && computeDiskShares(disk)).toEqual({ used: 85, reserved: 5, available: 10 })
  })

  it('has no size for object storage', () => {
    const [store] = readDisks([{ ...row, total: '18446744073709551615', used: '0' }])
    expect(store?.total).toBeNull()
    expect(store && evaluateDiskSeverity(store, undefined)).toBe('unknown')
  })

  it.each([
    ['500', null, 'ok'],
    ['850', null, 'warning'],
    ['500', { soonest: 13, latest: 40 }, 'warning'],
    ['950', null, 'critical'],
    ['500', { soonest: 2, latest: 40 }, 'critical'],
  ] as const)('with %s of 1000 used and full in %o is %s', (used, days, standing) => {
    const [each] = readDisks([{ ...row, used }])
    expect(each && evaluateDiskSeverity(each, createExampleForecast(days))).toBe(standing)
  })

  it.each([
    [null, 'not filling up', ''],
    [{ soonest: 10, latest: 17.5 }, '02 Dec 2026 to 09 Dec 2026', 'in 10 to 18 days'],
    [{ soonest: 10, latest: 10 }, 'about 02 Dec 2026', 'in 10 days'],
    [{ soonest: 0.5, latest: 1.25 }, '22 Nov 2026 to 23 Nov 2026', 'in 12h to 1d 6h'],
    [{ soonest: 900, latest: 1_000 }, 'not within two years', ''],
    [{ soonest: 10, latest: 900 }, '02 Dec 2026 to 21 Nov 2028', 'in 10 days to over two years'],
  ])('full in %o is described as %s', (days, between, within) => {
    expect([
      formatDiskFullDates(createExampleForecast(days), nowMs, 'UTC'),
      formatTimeUntilFull(createExampleForecast(days)),
    ]).toEqual([between, within])
  })
})

describe('disk history', () => {
  const hours = (count: number) =>
    Array.from({ length: count }, (_, hour) => ({ disk: 'default', time: hour * 3_600_000, used_bytes: hour * 10 }))

  it('returns growth over days if it is long enough', () => {
    const history = readDiskHistory(hours(49).toReversed()).get('default') ?? []
    expect([computeGrowth(1, history), computeGrowth(2, history), computeGrowth(7, history)]).toEqual([240, 480, null])
  })

  it('skips hours without data', () => {
    expect(readDiskHistory([{ disk: 'default', time: 1, used_bytes: null }]).size).toBe(0)
  })
})
