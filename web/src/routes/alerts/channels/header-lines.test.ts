import { expect, it } from 'vitest'
import { readHeaderLines } from './header-lines.ts'

it('parses one header per line, with colons in values', () => {
  expect(readHeaderLines('Authorization: Bearer a:b\n\n X-Team : storage \r\n')).toEqual({
    Authorization: 'Bearer a:b',
    'X-Team': 'storage',
  })
  expect(readHeaderLines('nonsense')).toEqual({ nonsense: '' })
})
