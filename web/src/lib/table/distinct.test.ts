import { expect, it } from 'vitest'
import { distinct } from './distinct.ts'

it('tells equal texts apart, and gives each the same name wherever the others stand', () => {
  expect(distinct(['a', 'b', 'a'])).toEqual(['0 a', '0 b', '1 a'])
  expect(distinct(['b', 'a'])).toEqual(['0 b', '0 a'])
})
