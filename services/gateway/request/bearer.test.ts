import { type Expression, type PrivateIdentifier, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { isCodeFile, isTestFile, parseSource, readSource, listRepositoryFiles } from '../../testing/source-file.ts'
import { isTimingSafeEqual } from './bearer.ts'

/** Matches names of values that must not leak through the duration of a comparison. */
const isSecret = /secret|password|signature|bearer|hmac/i

const nameOf = (node: Expression | PrivateIdentifier): string => {
  if (node.type === 'Identifier') return node.name
  return node.type === 'MemberExpression' && node.property.type === 'Identifier' ? node.property.name : ''
}

/** Returns, as `path: name`, the secrets that are compared with a non-constant value by an equality operator. */
const comparisonsIn = (path: string, text: string): string[] => {
  const found: string[] = []
  new Visitor({
    BinaryExpression: ({ left, operator, right }) => {
      if (!/^[!=]==?$/.test(operator)) return
      const isConstant = [left, right].some((side) => side.type === 'Literal' || nameOf(side) === 'undefined')
      const name = [left, right].map(nameOf).find((each) => isSecret.test(each))
      if (name !== undefined && !isConstant) found.push(`${path}: ${name}`)
    },
  }).visit(parseSource({ path, text }).program)
  return found
}

describe('isTimingSafeEqual', () => {
  it('returns true for equal texts only', () => {
    expect(['abc', 'abd', 'ab', 'abcd', ''].map((given) => isTimingSafeEqual(given, 'abc'))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })
})

describe('a secret', () => {
  it('is compared in constant time only', () => {
    expect(comparisonsIn('x.ts', 'const a = given === settings.secret')).toEqual(['x.ts: secret'])
    expect(comparisonsIn('x.ts', "const a = secret === undefined || signature !== ''")).toEqual([])
    const product = listRepositoryFiles().filter(
      (path) =>
        /^services\/(gateway|shared)\//.test(path) &&
        isCodeFile(path) &&
        !isTestFile(path) &&
        !path.includes('/testing/'),
    )
    expect(product.map(readSource).flatMap(({ path, text }) => comparisonsIn(path, text))).toEqual([])
    expect(readSource('services/gateway/request/bearer.ts').text).toContain(
      'timingSafeEqual(digestOf(candidate), digest)',
    )
  })
})
