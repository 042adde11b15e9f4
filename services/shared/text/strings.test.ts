import { describe, expect, it } from 'vitest'
import { shortenText, shortenWithEllipsis } from './strings.ts'

describe('a truncated text', () => {
  it.each([
    ['abc', 3, 'abc', 'abc'],
    ['abcd', 3, 'abc', 'ab…'],
    ['a😀', 3, 'a😀', 'a😀'],
    ['a😀b', 2, 'a', 'a…'],
    ['a😀b', 3, 'a😀', 'a…'],
    ['😀b', 1, '', '…'],
  ])('%j of at most %i characters is %j, and %j with an ellipsis', (text, most, beginning, shown) => {
    expect(shortenText(text, most)).toBe(beginning)
    expect(shortenWithEllipsis(text, most)).toBe(shown)
  })
})
