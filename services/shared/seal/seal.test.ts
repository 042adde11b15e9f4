import { describe, expect, it } from 'vitest'
import { unseal, seal } from './seal.ts'

const first = { current: 'the first key of the operator', previous: undefined }
const rotated = { current: 'the second key of the operator', previous: first.current }
const about = 'kept connection of ada'
const text = JSON.stringify({ user: 'ada', password: 'pässword' })

describe('a sealed text', () => {
  it('is decrypted with its key and subject, and reveals nothing', () => {
    const sealed = seal(text, about, first)
    expect(unseal(sealed, about, first)).toBe(text)
    expect(Buffer.from(sealed.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('ada')
    expect(seal(text, about, first)).not.toBe(sealed)
  })

  it('is not decrypted for another subject', () => {
    expect(unseal(seal(text, about, first), 'kept connection of eve', first)).toBeUndefined()
  })

  it('is decrypted with the previous key, and encrypted only with the current one', () => {
    const old = seal(text, about, first)
    expect(unseal(old, about, rotated)).toBe(text)
    const renewed = seal(text, about, rotated)
    expect(unseal(renewed, about, first)).toBeUndefined()
    expect(unseal(renewed, about, { current: rotated.current, previous: undefined })).toBe(text)
    expect(unseal(old, about, { current: rotated.current, previous: undefined })).toBeUndefined()
  })

  it('is not decrypted if any character was changed', () => {
    const sealed = seal('short', about, first)
    const changed = [...sealed].map(
      (character, index) => `${sealed.slice(0, index)}${character === 'A' ? 'B' : 'A'}${sealed.slice(index + 1)}`,
    )
    expect(changed.filter((each) => unseal(each, about, first) !== undefined)).toEqual([])
  })

  it.each(['', '.', 'abc', `${seal('a', about, first)}.b`, seal('a', about, first).slice(0, -1)])(
    'is not mistaken for what is none: %s',
    (given) => {
      expect(unseal(given, about, first)).toBeUndefined()
    },
  )
})
