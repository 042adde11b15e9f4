import { expect, it } from 'vitest'
import { forgetOldest } from './newest.ts'

const open = (most: number) => {
  const entries = new Map<string, number>()
  const forget = forgetOldest(entries, most)
  const add = (...names: string[]) => {
    for (const name of names) {
      entries.set(name, 0)
      forget()
    }
  }
  return { entries, add, names: () => [...entries.keys()] }
}

it('keeps the newest, whatever was removed meanwhile', () => {
  const { entries, add, names } = open(3)
  add('a', 'b', 'c', 'd')
  expect(names()).toEqual(['b', 'c', 'd'])
  entries.delete('b')
  add('e')
  expect(names()).toEqual(['c', 'd', 'e'])
  entries.delete('d')
  add('f', 'g')
  expect(names()).toEqual(['e', 'f', 'g'])
})

it('takes what is set anew for new', () => {
  const { entries, add, names } = open(2)
  add('a', 'b')
  entries.delete('a')
  add('a', 'c')
  expect(names()).toEqual(['a', 'c'])
})

it('goes on after all was removed', () => {
  const { entries, add, names } = open(1)
  add('a', 'b')
  entries.clear()
  add('c', 'd', 'e')
  expect(names()).toEqual(['e'])
})
