import { describe, expect, it } from 'vitest'
import { extractClaims, openEvidenceLedger } from './evidence.ts'

const evidence = { hostKey: 'one', statement: 'SELECT 1', parameters: {}, atMs: 1, rows: 1, rowHash: 'a'.repeat(64) }
const result = { columns: [{ name: 'tables' }, { name: 'views' }], rows: [[5, 2]] }
const addResult = (ledger: ReturnType<typeof openEvidenceLedger>, toolCallId: string, result: unknown) =>
  ledger.add([evidence], { toolCallId, tool: 'query' }, { value: { text: '1 row, complete.', result }, cut: false })
const openLedger = () => {
  const ledger = openEvidenceLedger(0)
  addResult(ledger, 'a', result)
  addResult(ledger, 'b', result)
  return ledger
}
const extract = (answer: string) => extractClaims(answer, { ...openLedger(), question: '' })

describe('the claims of an answer', () => {
  it.each([
    ['There are 5 tables [e1].', [{ text: 'There are 5 tables.', evidence: ['e1'] }]],
    [
      'There are 5 tables. [e1] And 2 views [e2].',
      [
        { text: 'There are 5 tables.', evidence: ['e1'] },
        { text: 'And 2 views.', evidence: ['e2'] },
      ],
    ],
    ['It is slow [e1, e2][e1].', [{ text: 'It is slow.', evidence: ['e1', 'e2'] }]],
    [
      '- one [e1]\n- two [e2]\n- three',
      [
        { text: '- one', evidence: ['e1'] },
        { text: '- two', evidence: ['e2'] },
      ],
    ],
    ['Version 26.3 of it runs [e1].', [{ text: 'Version 26.3 of it runs.', evidence: ['e1'] }]],
    ['Nothing is cited [1] or [see e1] here.', []],
  ])('of %j are the sentences with evidence', (answer, claims) => {
    expect(extract(answer)).toEqual({ claims, unknown: [], insufficient: false })
  })

  it('list citations of unknown evidence separately', () => {
    expect(extract('It burns [e9]. It is [e1, e8] cold.')).toEqual({
      claims: [{ text: 'It is cold.', evidence: ['e1'] }],
      unknown: ['e9', 'e8'],
      insufficient: false,
    })
  })

  it('are empty if nothing is cited', () => {
    expect(extract('**Insufficient evidence**: the log is off.')).toMatchObject({
      claims: [],
      insufficient: true,
    })
  })

  it.each([
    ['There are 7 tables [e1].', [{ text: 'There are 7 tables.', evidence: ['e1'], untraced: ['7'] }]],
    [
      'There are 7 tables. See the list [e1].',
      [{ text: 'There are 7 tables. See the list.', evidence: ['e1'], untraced: ['7'] }],
    ],
    [
      'There are 7 tables.\n\nEvidence: [e1]',
      [{ text: 'There are 7 tables. Evidence:', evidence: ['e1'], untraced: ['7'] }],
    ],
    ['Set 9 as the limit. There are 5 tables [e1].', [{ text: 'There are 5 tables.', evidence: ['e1'] }]],
  ])('of %j name the figures that do not follow from the results', (answer, claims) => {
    expect(extract(answer).claims).toEqual(claims)
  })

  it('prove no figure once the results of an answer exceed their size limit', () => {
    const ledger = openLedger()
    addResult(ledger, 'c', { rows: ['x'.repeat(9 * 1024 * 1024)] })
    addResult(ledger, 'd', result)
    const { claims } = extractClaims('It has 5 tables [e1]. It has 5 tables [e4].', { ...ledger, question: '' })
    expect(claims.map(({ untraced }) => untraced)).toEqual([undefined, ['5']])
  })
})
