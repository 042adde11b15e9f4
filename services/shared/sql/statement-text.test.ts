import { describe, expect, it } from 'vitest'
import { buildWatchhouseIdCondition, createQueryId, quoteName, quoteText } from './statement-text.ts'

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

it('marks the query ids of all statements except those of the SQL console', () => {
  const uuid = '00000000-0000-4000-8000-000000000000'
  expect(createQueryId('chart/x', uuid)).toBe(`watchhouse-${uuid}`)
  expect(createQueryId('console', uuid)).toBe(uuid)
  expect(buildWatchhouseIdCondition('query_id')).toBe("startsWith(query_id, 'watchhouse-')")
})
