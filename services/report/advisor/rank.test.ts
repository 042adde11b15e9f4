import { expect, it } from 'vitest'
import type { AdviceKind } from '#proto/advice.ts'
import { type Weighed, rank } from './advise.ts'

const weighed = (kind: AdviceKind, purpose: string, marksAfter: number | null): Weighed => ({
  proposal: {
    kind,
    purpose,
    title: purpose,
    rationale: '',
    ddl: null,
    rewritten: null,
    tellsValues: false,
    risk: '',
    test: { by: 'index', column: 'a', type: 'minmax' },
  },
  measured:
    marksAfter === null
      ? { proof: 'unverified', savings: null }
      : {
          proof: 'estimated',
          savings: { marksBefore: 100, marksAfter, bytesBefore: 1_000, bytesAfter: 10 * marksAfter },
        },
})

it.each([
  ['what saves more comes first', [weighed('skip-index', 'a', 60), weighed('projection', 'b', 1)], ['b', 'a']],
  [
    'of what saves about the same the smaller change',
    [weighed('projection', 'b', 1), weighed('skip-index', 'a', 4)],
    ['a', 'b'],
  ],
  ['less than a fifth is not worth it', [weighed('skip-index', 'a', 81), weighed('projection', 'b', 80)], ['b']],
  ['of one purpose the best is told', [weighed('skip-index', 'a', 50), weighed('skip-index', 'a', 10)], ['a']],
  ['what is not verified comes last', [weighed('prewhere', 'c', null), weighed('partition-key', 'a', 50)], ['a', 'c']],
])('%s', (_rule, given, told) => {
  const ranked = rank(given)
  expect(ranked.map(({ proposal }) => proposal.purpose)).toEqual(told)
  const best = Math.min(...given.map(({ measured }) => measured.savings?.marksAfter ?? 100))
  expect(ranked.some(({ measured }) => measured.savings?.marksAfter === best)).toBe(true)
})
