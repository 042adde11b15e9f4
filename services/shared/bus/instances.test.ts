import { expect, it } from 'vitest'
import { InstanceRegistry } from './instances.ts'

const limits = { instanceDeadMs: 6_000, instances: 2, serviceGoneMs: 60_000 }
const alive = (instance: string, load = 0) => ({ instance, load, leaving: false })
const query = { service: 'query', isGuest: false } as const

it('lists an instance until it has sent no announcement for six seconds', () => {
  let now = 0
  const instances = new InstanceRegistry(limits, () => now)
  instances.hear(alive('a'), query)
  now = 4_000
  instances.hear(alive('b'), query)
  now = 6_000
  expect(instances.of('query')).toEqual(['a', 'b'])
  now = 6_001
  expect(instances.of('query')).toEqual(['b'])
})

it('removes an instance when it announces that it leaves', () => {
  const instances = new InstanceRegistry(limits, () => 0)
  instances.hear(alive('a'), query)
  instances.hear({ ...alive('a'), leaving: true }, query)
  expect(instances.of('query')).toEqual([])
})

it('lists at most the maximum number of instances', () => {
  const instances = new InstanceRegistry(limits, () => 0)
  for (const name of ['a', 'b', 'c', 'b']) instances.hear(alive(name), query)
  expect(instances.of('query').toSorted()).toEqual(['a', 'b'])
})

it('does not mix up services', () => {
  const instances = new InstanceRegistry(limits, () => 0)
  instances.hear(alive('a'), query)
  expect(instances.of('report')).toEqual([])
})

it('returns the instance that last announced the lowest load', () => {
  const instances = new InstanceRegistry({ ...limits, instances: 3 }, () => 0)
  expect(instances.leastLoaded('query')).toBeUndefined()
  for (const [name, load] of [
    ['a', 5],
    ['b', 2],
    ['c', 3],
    ['b', 9],
  ] as const)
    instances.hear(alive(name, load), query)
  expect(instances.leastLoaded('query')).toBe('c')
})

it('accepts announcements of guest instances only from guests', () => {
  const instances = new InstanceRegistry(limits, () => 0)
  const guest = { service: 'query', isGuest: true } as const
  instances.hear({ ...alive('a'), part: 'own' }, query)
  instances.hear({ ...alive('a'), part: 'own', leaving: true }, guest)
  for (const name of ['b', 'c', 'd']) instances.hear({ ...alive(name), part: 'own' }, guest)
  expect(instances.of('query')).toEqual(['a'])
  expect(instances.of('query', 'guest')).toEqual(['b', 'c'])
})

it('expects a service for a minute after its last announcement, also if its process left', () => {
  let now = 0
  const instances = new InstanceRegistry(limits, () => now)
  expect(instances.expects('query')).toBe(false)
  instances.hear({ ...alive('a'), leaving: true }, query)
  now = 59_999
  expect(instances.expects('query')).toBe(true)
  now = 60_000
  expect(instances.expects('query')).toBe(false)
})
