import { describe, expect, it } from 'vitest'
import { unseal, seal } from './seal.ts'

const first = { current: 'the first key of the operator', previous: undefined }
const rotated = { current: 'the second key of the operator', previous: first.current }
const about = 'kept connection of ada'
const text = JSON.stringify({ user: 'ada', password: 'pässword' })

describe('a sealed text', () => {
  it('opens with its key and for what it is about, and shows nothing of itself', () => {
    const sealed = seal(text, about, first)
    expect(unseal(sealed, about, first)).toBe(text)
    expect(Buffer.from(sealed.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('ada')
    expect(seal(text, about, first)).not.toBe(sealed)
  })

  it('opens for nothing else', () => {
    expect(unseal(seal(text, about, first), 'kept connection of eve', first)).toBeUndefined()
  })

  it('opens with the key before the present one, and is sealed with the present one only', () => {
    const old = seal(text, about, first)
    expect(unseal(old, about, rotated)).toBe(text)
    const renewed = seal(text, about, rotated)
    expect(unseal(renewed, about, first)).toBeUndefined()
    expect(unseal(renewed, about, { current: rotated.current, previous: undefined })).toBe(text)
    expect(unseal(old, about, { current: rotated.current, previous: undefined })).toBeUndefined()
  })

  it('does not open when any character of it was changed', () => {
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
