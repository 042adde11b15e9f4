import { describe, expect, it } from 'vitest'
import { YamlError, parseYaml } from './yaml.ts'

describe('a YAML text', () => {
  it.each([
    ['', null],
    ['# a comment', null],
    ['a: 1\nb: [x, "2"]', { a: 1, b: ['x', '2'] }],
    ['since: "24.3"', { since: '24.3' }],
    ['a: &same [1]\nb: *same', { a: [1], b: [1] }],
  ])('%j is parsed as %j', (text, said) => {
    expect(parseYaml(text)).toEqual(said)
  })

  it.each([
    ['a: 1\nb: [', 2],
    ['a: 1\na: 2', 2],
    ['a: !!js/function x', 1],
    ['--- a\n--- b', undefined],
  ])('%j is rejected with its line', (text, line) => {
    expect(() => parseYaml(text)).toThrow(expect.objectContaining({ line }))
  })

  it('cannot expand to a huge value', () => {
    const levels = [...'bcdefghij'].map(
      (name, index) =>
        `${name}: &${name} [${'*'
          .concat('abcdefghij'[index] ?? '')
          .concat(',')
          .repeat(9)}]`,
    )
    expect(() => parseYaml(['a: &a [x]', ...levels].join('\n'))).toThrow(YamlError)
  })

  it('cannot change the prototype of an object', () => {
    expect(Object.getPrototypeOf(parseYaml('__proto__: {admin: true}'))).toBe(Object.prototype)
  })
})
