import { describe, expect, it } from 'vitest'
import { omitDefaultPreferences, preferenceChoices, readPreferences } from './preferences.ts'

const usual = {
  zone: 'default',
  bytes: 'binary',
  palette: 'standard',
  density: 'compact',
  keys: 'on',
  own: 'hidden',
  diff: 'split',
  changes: 'shown',
}

describe('stored preferences', () => {
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
  ])('replaces invalid values in %j by defaults', (kept, expected) => expect(readPreferences(kept)).toEqual(expected))

  it('follows the default of the operator where an earlier release stored its own', () => {
    expect(readPreferences({ ...usual, zone: 'browser', bytes: 'decimal' })).toEqual({ ...usual, bytes: 'decimal' })
    expect(readPreferences({ ...usual, zone: 'utc' })).toEqual({ ...usual, zone: 'utc' })
  })

  it('contain only non-default values', () => {
    expect(omitDefaultPreferences(readPreferences(undefined))).toEqual({})
    const chosen = { zone: 'browser', bytes: 'decimal' }
    expect(omitDefaultPreferences(readPreferences(chosen))).toEqual(chosen)
  })

  it('accept every choice', () => {
    for (const [name, choices] of Object.entries(preferenceChoices)) {
      for (const choice of choices) expect(readPreferences({ [name]: choice })).toEqual({ ...usual, [name]: choice })
    }
  })
})
