import { describe, expect, it } from 'vitest'
import { parseJson } from './strings.ts'

describe('JSON text', () => {
  it.each([
    ['{"a":[1,null]}', { a: [1, null] }],
    ['null', null],
    ['"text"', 'text'],
    ['', undefined],
    ['{"a":', undefined],
    ['undefined', undefined],
  ])('%j is %j', (text, value) => expect(parseJson(text)).toEqual(value))
})
