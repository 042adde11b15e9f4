import { expect, it } from 'vitest'
import { uniqueKeys } from './unique-keys.ts'

it('tells equal texts apart, and gives each the same name wherever the others stand', () => {
  expect(uniqueKeys(['a', 'b', 'a'])).toEqual(['0 a', '0 b', '1 a'])
  expect(uniqueKeys(['b', 'a'])).toEqual(['0 b', '0 a'])
})
