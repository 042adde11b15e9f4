import { describe, expect, it } from 'vitest'
import { splitAtReferences } from './evidence-references.ts'

describe('evidence references', () => {
  it('split the text', () => {
    expect(splitAtReferences('It is slow [e1, e12]. Not [1] or [e0].')).toEqual([
      { text: 'It is slow ', evidence: false },
      { text: 'e1', evidence: true },
      { text: 'e12', evidence: true },
      { text: '. Not [1] or [e0].', evidence: false },
    ])
  })
})
