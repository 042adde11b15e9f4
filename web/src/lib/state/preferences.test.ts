import { describe, expect, it } from 'vitest'
import { chosenPreferences, preferenceChoices, readPreferences } from './preferences.ts'

const usual = { zone: 'default', bytes: 'binary', palette: 'standard', density: 'compact', keys: 'on' }

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

  it('follows the default of the operator where an earlier release kept its own default', () => {
    expect(readPreferences({ ...usual, zone: 'browser', bytes: 'decimal' })).toEqual({ ...usual, bytes: 'decimal' })
    expect(readPreferences({ ...usual, zone: 'utc' })).toEqual({ ...usual, zone: 'utc' })
  })

  it('is only what differs from the defaults, and is read back', () => {
    expect(chosenPreferences(readPreferences(undefined))).toEqual({})
    const chosen = { zone: 'browser', bytes: 'decimal' }
    expect(chosenPreferences(readPreferences(chosen))).toEqual(chosen)
  })

  it('may be each choice that there is', () => {
    for (const [name, choices] of Object.entries(preferenceChoices)) {
      for (const choice of choices) expect(readPreferences({ [name]: choice })).toEqual({ ...usual, [name]: choice })
    }
  })
})
