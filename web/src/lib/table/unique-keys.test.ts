import { expect, it } from 'vitest'
import { createUniqueKeys } from './unique-keys.ts'

it('numbers repeated texts independently of their position', () => {
  expect(createUniqueKeys(['a', 'b', 'a'])).toEqual(['0 a', '0 b', '1 a'])
  expect(createUniqueKeys(['b', 'a'])).toEqual(['0 b', '0 a'])
})
