import { expect, it } from 'vitest'
import { noSuch } from './no-such.ts'

const known = ['query-count', 'merge-count', 'Query-Kinds', 'disk-size']

it.each([
  ['query-cout', 'no such chart: query-cout; did you mean query-count?'],
  ['QUERY-COUNT', 'no such chart: QUERY-COUNT; did you mean query-count?'],
  ['query-kinds', 'no such chart: query-kinds; did you mean Query-Kinds?'],
  ['zzz', 'no such chart: zzz'],
])('%s is refused with what may have been meant', (name, message) => {
  expect(noSuch('chart', name, known)).toMatchObject({ code: 'not-found', message })
})
