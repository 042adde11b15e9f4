import { describe, expect, it } from 'vitest'
import { shortenText, shortenWithEllipsis } from './strings.ts'

describe('a text that is cut', () => {
  it.each([
    ['abc', 3, 'abc', 'abc'],
    ['abcd', 3, 'abc', 'ab…'],
    ['a😀', 3, 'a😀', 'a😀'],
    ['a😀b', 2, 'a', 'a…'],
    ['a😀b', 3, 'a😀', 'a…'],
    ['😀b', 1, '', '…'],
  ])('%j of %i begins as %j and is shown as %j', (text, most, beginning, shown) => {
    expect(shortenText(text, most)).toBe(beginning)
    expect(shortenWithEllipsis(text, most)).toBe(shown)
  })
})
