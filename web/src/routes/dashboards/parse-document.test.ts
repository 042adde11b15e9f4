import { describe, expect, it } from 'vitest'
import { parseDocument } from './parse-document.ts'

describe('a document', () => {
  it('is an object', () => {
    expect(parseDocument('{"title": "a"}')).toEqual({ title: 'a' })
    expect(() => parseDocument('[1]')).toThrow('not a JSON object')
  })

  it('that is not JSON is rejected with the line', () => {
    expect(() => parseDocument('{\n  "title": "a",\n}')).toThrow(/the document is not JSON: .*line 3/)
  })
})
