import { describe, expect, it } from 'vitest'
import { mergeDeadLetterPages } from './health-deliveries.ts'

const page = (ids: readonly number[], next: number | null) => ({
  letters: ids.map((id) => ({ id: String(id) })),
  next: next === null ? null : String(next),
})
const joined = (limit: number, ...pages: ReturnType<typeof page>[]) => {
  const { letters, next } = mergeDeadLetterPages(pages, limit)
  return [letters.map(({ id }) => Number(id)), next]
}

describe('letters of two kinds as one page', () => {
  it.each([
    ['come in one order', joined(9, page([9, 4], null), page([7, 3], null)), [[9, 7, 4, 3], null]],
    ['end where the page is full', joined(2, page([9, 4], null), page([7, 3], null)), [[9, 7], '7']],
    ['end where one kind was looked at', joined(2, page([9, 8], 8), page([7, 3], 3)), [[9, 8], '8']],
    ['leave out what is beyond that', joined(3, page([9, 8], 6), page([7, 5], null)), [[9, 8, 7], '6']],
    ['go on where nothing was found so far', joined(3, page([], 40), page([], null)), [[], '40']],
    ['may be none', joined(3, page([], null), page([], null)), [[], null]],
  ])('%s', (_name, is, wanted) => expect(is).toEqual(wanted))
})
