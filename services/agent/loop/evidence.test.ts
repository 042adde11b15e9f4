import { describe, expect, it } from 'vitest'
import { extractClaims } from './evidence.ts'

const has = (id: string) => ['e1', 'e2', 'e12'].includes(id)

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
    ['It is slow [e1, e12][e2].', [{ text: 'It is slow.', evidence: ['e1', 'e12', 'e2'] }]],
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
    expect(extractClaims(answer, has)).toEqual({ claims, unknown: [], insufficient: false })
  })

  it('list citations of unknown evidence separately', () => {
    expect(extractClaims('It burns [e9]. It is [e1, e8] cold.', has)).toEqual({
      claims: [{ text: 'It is cold.', evidence: ['e1'] }],
      unknown: ['e9', 'e8'],
      insufficient: false,
    })
  })

  it('are empty if nothing is cited', () => {
    expect(extractClaims('**Insufficient evidence**: the log is off.', has)).toMatchObject({
      claims: [],
      insufficient: true,
    })
  })
})
