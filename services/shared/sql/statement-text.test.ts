import { describe, expect, it } from 'vitest'
import { quoteName, quoteText } from './statement-text.ts'

describe('quoting for ClickHouse', () => {
  it.each([
    ['orders', '`orders`'],
    ['two words', '`two words`'],
    ['a`b', '`a\\`b`'],
    ['a\\', '`a\\\\`'],
  ])('the name %s becomes %s', (name, quoted) => expect(quoteName(name)).toBe(quoted))

  it.each([
    ["o'clock", "'o\\'clock'"],
    ['a\\', "'a\\\\'"],
  ])('the text %s becomes %s', (text, quoted) => expect(quoteText(text)).toBe(quoted))
})
