import { describe, expect, it } from 'vitest'
import { parseQueryString } from './parse.ts'

describe('a query string', () => {
  it.each([
    ['/x', {}],
    ['/x?', {}],
    ['/x?a=1&b=2', { a: '1', b: '2' }],
    ['/x?a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['/x?a', { a: '' }],
    ['/x?a=b=c', { a: 'b=c' }],
    ['/x?&&a=1&', { a: '1' }],
    ['/x?a+b=c+d%20e%2B', { 'a b': 'c d e+' }],
    ['/x?%C3%A4=%E2%82%AC', { ä: '€' }],
    ['/x?constructor=1', { constructor: '1' }],
  ])('parses %s', (url, values) => {
    expect({ ...parseQueryString(url) }).toEqual(values)
  })

  it('treats __proto__ as an ordinary name', () => {
    const values = parseQueryString('/x?__proto__=1&__proto__=2')
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype)
    expect(Object.entries(values)).toEqual([['__proto__', ['1', '2']]])
  })

  it.each(['/x?a=%', '/x?%ff=1', '/x?a=%C3%28'])('rejects %s, which is not UTF-8', (url) => {
    expect(() => parseQueryString(url)).toThrow('UTF-8')
  })
})
