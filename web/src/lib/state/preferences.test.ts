import { describe, expect, it } from 'vitest'
import { preferenceChoices, readPreferences } from './preferences.ts'

const usual = { zone: 'browser', bytes: 'binary', palette: 'standard', density: 'compact', keys: 'on' }

describe('what a browser kept', () => {
  it.each([
    [undefined, usual],
    ['nonsense', usual],
    [
      { bytes: 'decimal', palette: 'of a later release', more: 1 },
      { ...usual, bytes: 'decimal' },
    ],
    [
      { zone: 'utc', density: 'comfortable' },
      { ...usual, zone: 'utc', density: 'comfortable' },
    ],
  ])('%j is read as far as it is a choice', (kept, expected) => expect(readPreferences(kept)).toEqual(expected))

  it('may be each choice that there is', () => {
    for (const [name, choices] of Object.entries(preferenceChoices)) {
      for (const choice of choices) expect(readPreferences({ [name]: choice })).toEqual({ ...usual, [name]: choice })
    }
  })
})
