import { expect, it } from 'vitest'
import type { AdviceKind } from '#proto/advice.ts'
import { type MeasuredProposal, rankProposals } from './query-advice.ts'

const proposalOf = (kind: AdviceKind, purpose: string, marksAfter: number | null): MeasuredProposal => ({
  proposal: {
    kind,
    purpose,
    title: purpose,
    rationale: '',
    ddl: null,
    rewritten: null,
    includesValues: false,
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
  ['larger savings come first', [proposalOf('skip-index', 'a', 60), proposalOf('projection', 'b', 1)], ['b', 'a']],
  [
    'the smaller change comes first if savings are similar',
    [proposalOf('projection', 'b', 1), proposalOf('skip-index', 'a', 4)],
    ['a', 'b'],
  ],
  ['savings below a fifth are dropped', [proposalOf('skip-index', 'a', 81), proposalOf('projection', 'b', 80)], ['b']],
  [
    'only the best proposal of a purpose is returned',
    [proposalOf('skip-index', 'a', 50), proposalOf('skip-index', 'a', 10)],
    ['a'],
  ],
  [
    'unverified proposals come last',
    [proposalOf('prewhere', 'c', null), proposalOf('partition-key', 'a', 50)],
    ['a', 'c'],
  ],
])('%s', (_rule, proposals, expected) => {
  const ranked = rankProposals(proposals)
  expect(ranked.map(({ proposal }) => proposal.purpose)).toEqual(expected)
  const best = Math.min(...proposals.map(({ measured }) => measured.savings?.marksAfter ?? 100))
  expect(ranked.some(({ measured }) => measured.savings?.marksAfter === best)).toBe(true)
})
