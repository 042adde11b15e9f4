import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generateUserCode, parseUserCode, formatUserCode } from './codes.ts'

it('has eight unambiguous letters, displayed in two halves', () => {
  for (let time = 0; time < 200; time += 1) {
    const code = generateUserCode()
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/)
    expect(formatUserCode(code)).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
    expect(parseUserCode(formatUserCode(code))).toBe(code)
  }
})

it('is rarely the same twice', () => {
  expect(new Set(Array.from({ length: 1000 }, generateUserCode)).size).toBe(1000)
})

it.each(['WDJBMJHT', 'wdjb-mjht', ' WDJB MJHT ', 'w.d_j-b–m/j\th\nt'])('%j is parsed as WDJBMJHT', (typed) => {
  expect(parseUserCode(typed)).toBe('WDJBMJHT')
})

it.each(['', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJB-MJHA', 'WDJB-MJH0', 'ẀDJB-MJHT', 'WDJB-MJHTß'])(
  '%j is no code',
  (typed) => {
    expect(parseUserCode(typed)).toBeUndefined()
  },
)

it('never parses an invalid text as a code', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40, unit: 'grapheme' }), (typed) => {
      expect(parseUserCode(typed) ?? 'BBBBBBBB').toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/)
    }),
  )
})
