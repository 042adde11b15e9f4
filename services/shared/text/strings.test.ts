import { describe, expect, it } from 'vitest'
import { beginningOf, cut } from './strings.ts'

describe('a text that is cut', () => {
  it.each([
    ['abc', 3, 'abc', 'abc'],
    ['abcd', 3, 'abc', 'ab…'],
    ['a😀', 3, 'a😀', 'a😀'],
    ['a😀b', 2, 'a', 'a…'],
    ['a😀b', 3, 'a😀', 'a…'],
    ['😀b', 1, '', '…'],
  ])('%j of %i begins as %j and is shown as %j', (text, most, beginning, shown) => {
    expect(beginningOf(text, most)).toBe(beginning)
    expect(cut(text, most)).toBe(shown)
  })
})
