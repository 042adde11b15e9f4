import { expect, it } from 'vitest'
import { openSystemInterner } from './client.ts'

const systemOf = (...tables: string[]) => ({ tables: new Set(tables), logs: new Map<string, string>() })

it('returns the same object for equal tables in any order', () => {
  const equal = openSystemInterner()
  const system = equal(systemOf('parts', 'metrics'))
  expect(system).toEqual(systemOf('parts', 'metrics'))
  expect(equal(systemOf('metrics', 'parts'))).toBe(system)
  expect(equal(systemOf('metrics'))).not.toBe(system)
})

it('returns another object when the same tables are read in another way', () => {
  const equal = openSystemInterner()
  const read = (source: string) => equal({ ...systemOf('part_log'), logs: new Map([['part_log', source]]) })
  expect(read('one')).not.toBe(read('two'))
  expect(read('one')).toBe(read('one'))
})

it('evicts the least recently used object', () => {
  const equal = openSystemInterner()
  const [first, second] = [equal(systemOf('first')), equal(systemOf('second'))]
  for (let other = 0; other < 99; other++) {
    equal(systemOf(`other-${other}`))
    expect(equal(systemOf('first'))).toBe(first)
  }
  expect(equal(systemOf('second'))).not.toBe(second)
})
