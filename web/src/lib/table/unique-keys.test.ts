import { expect, it } from 'vitest'
import { uniqueKeys } from './unique-keys.ts'

it('numbers repeated texts independently of their position', () => {
  expect(uniqueKeys(['a', 'b', 'a'])).toEqual(['0 a', '0 b', '1 a'])
  expect(uniqueKeys(['b', 'a'])).toEqual(['0 b', '0 a'])
})
