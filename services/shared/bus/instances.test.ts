import { expect, it } from 'vitest'
import { Instances } from './instances.ts'

const limits = { instanceDeadMs: 6_000, instances: 2 }
const alive = (instance: string, load = 0) => ({ service: 'query' as const, instance, load, leaving: false })

it('knows an instance until it was unheard for six seconds', () => {
  let now = 0
  const instances = new Instances(limits, () => now)
  instances.hear(alive('a'))
  now = 4_000
  instances.hear(alive('b'))
  now = 6_000
  expect(instances.of('query')).toEqual(['a', 'b'])
  now = 6_001
  expect(instances.of('query')).toEqual(['b'])
})

it('forgets an instance as soon as it says that it leaves', () => {
  const instances = new Instances(limits, () => 0)
  instances.hear(alive('a'))
  instances.hear({ ...alive('a'), leaving: true })
  expect(instances.of('query')).toEqual([])
})

it('remembers no more instances than its limit', () => {
  const instances = new Instances(limits, () => 0)
  for (const name of ['a', 'b', 'c', 'b']) instances.hear(alive(name))
  expect(instances.of('query').toSorted()).toEqual(['a', 'b'])
})

it('keeps the services apart', () => {
  const instances = new Instances(limits, () => 0)
  instances.hear(alive('a'))
  expect(instances.of('report')).toEqual([])
})

it('tells the one that said last that it has the least to do', () => {
  const instances = new Instances({ ...limits, instances: 3 }, () => 0)
  expect(instances.leastLoaded('query')).toBeUndefined()
  for (const [name, load] of [
    ['a', 5],
    ['b', 2],
    ['c', 3],
    ['b', 9],
  ] as const)
    instances.hear(alive(name, load))
  expect(instances.leastLoaded('query')).toBe('c')
})
