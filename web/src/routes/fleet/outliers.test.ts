import { describe, expect, it } from 'vitest'
import type { FleetHostView } from '#proto/http/fleet.ts'
import { countVersions } from './version-drift.ts'
import { computeMedian, findOutliers } from './outliers.ts'

const load = { queries: 1, merges: 0, cpu: 20, memory: 40, disk: 50, readonly: 0, delay: 0 }
const host = (id: number, changes: Partial<typeof load> = {}, more: Partial<FleetHostView> = {}): FleetHostView => ({
  id,
  name: `host-${id}`,
  group: null,
  tags: [],
  status: 'up',
  version: '26.3.1',
  uptime: 100,
  load: { ...load, ...changes },
  worstFinding: null,
  ...more,
})
const fleet = (size: number, more: Partial<FleetHostView> = {}) =>
  Array.from({ length: size }, (_, id) => host(id, { cpu: 18 + (id % 5), memory: 38 + (id % 4) }, more))

describe('outliers', () => {
  it('are hosts far above their peers, farthest first', () => {
    const found = findOutliers([...fleet(20), host(98, { cpu: 60 }), host(99, { memory: 95, readonly: 1 })])
    expect(found.map(({ host: { id }, measure: { name } }) => `${id} ${name}`)).toEqual([
      '99 memory',
      '98 cpu',
      '99 readonly',
    ])
    expect(found[0]).toMatchObject({ value: 95, peerMedian: 40 })
  })

  it('do not exist among hosts with small differences', () => expect(findOutliers(fleet(30))).toEqual([]))

  it('are determined within a group that is large enough', () => {
    const busy = Array.from({ length: 6 }, (_, index) => host(100 + index, { cpu: 90 }, { group: 'batch' }))
    expect(findOutliers([...fleet(20, { group: 'web' }), ...busy])).toEqual([])
    expect(findOutliers([...fleet(20, { group: 'web' }), ...busy.slice(0, 2)]).length).toBe(2)
  })

  it('never include hosts without metrics', () =>
    expect(findOutliers([...fleet(5), { ...host(9), load: null }])).toEqual([]))
})

it.each([
  [[], 0],
  [[3], 3],
  [[4, 1], 2.5],
  [[9, 1, 5], 5],
])('the median of %j is %d', (values, expected) => expect(computeMedian(values)).toBe(expected))

it('lists the versions in use, with the most common one first', () => {
  const hosts = [...fleet(3), host(7, {}, { version: '25.8.2' }), host(8, {}, { version: null })]
  expect(countVersions(hosts)).toEqual([
    { version: '26.3.1', hosts: 3, isMostCommon: true },
    { version: '25.8.2', hosts: 1, isMostCommon: false },
  ])
})
