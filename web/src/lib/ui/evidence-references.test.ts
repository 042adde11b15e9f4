import { describe, expect, it } from 'vitest'
import { markUnprovenClaims, splitAtReferences } from './evidence-references.ts'

describe('evidence references', () => {
  it('split the text', () => {
    expect(splitAtReferences('It is slow [e1, e12]. Not [1] or [e0].')).toEqual([
      { text: 'It is slow ', evidence: false },
      { text: 'e1', evidence: true },
      { text: 'e12', evidence: true },
      { text: '. Not [1] or [e0].', evidence: false },
    ])
  })

  it.each([
    ['There are 9 parts [e1]. Good.', 'There are 9 parts.', 'There are 9 parts [e1] [!0]. Good.'],
    ['There are 9 parts. [e1] Good.', 'There are 9 parts.', 'There are 9 parts. [e1] [!0] Good.'],
    ['- **a**: 9 (b+c) [e1, e2][e3]', '- **a**: 9 (b+c)', '- **a**: 9 (b+c) [e1, e2][e3] [!0]'],
    ['| a | 9 [e1] | x |\n| b | 8 [e1] | x |', '| b | 8 | x |', '| a | 9 [e1] | x |\n| b | 8 [e1] [!0] | x |'],
    ['9 parts.\n\nEvidence: [e1]', '9 parts. Evidence:', '9 parts.\n\nEvidence: [e1] [!0]'],
    ['It has 9, 8 and 7 $& [e1].', 'It has 9, 8 and 7 $&.', 'It has 9, 8 and 7 $& [e1] [!0].'],
    ['Something else [e1].', 'There are 9 parts.', 'Something else [e1].'],
  ])('are followed by the mark of an unproven claim in %j', (text, claim, marked) => {
    expect(markUnprovenClaims(text, [{ text: claim, untraced: ['9'] }])).toBe(marked)
    expect(markUnprovenClaims(text, [{ text: claim }])).toBe(text)
  })

  it('split the text at marks', () => {
    expect(splitAtReferences('9 parts [e1] [!0].')).toEqual([
      { text: '9 parts ', evidence: false },
      { text: 'e1', evidence: true },
      { text: ' ', evidence: false },
      { text: '!0', evidence: true },
      { text: '.', evidence: false },
    ])
  })
})
