import { describe, expect, it } from 'vitest'
import { parseExposition, findSampleValue } from './exposition-format.ts'

const good = String.raw`# HELP a_b What \\ is,\nin words
# TYPE a_b gauge
a_b{host="0",name="a \"b\" \\ c\nd"} 1.5
a_b{host="1"} -2e-7
# TYPE c counter
c NaN
# TYPE d untyped
d{x="}"} +Inf
`

describe('the parser of the exposition format', () => {
  it('parses names, help texts, labels and values', () => {
    const families = parseExposition(good)
    expect([...families].map(([name, { type }]) => [name, type])).toEqual([
      ['a_b', 'gauge'],
      ['c', 'counter'],
      ['d', 'untyped'],
    ])
    expect(findSampleValue(families, 'a_b', { name: 'a "b" \\ c\nd', host: '0' })).toBe(1.5)
    expect(findSampleValue(families, 'a_b', { host: '1' })).toBe(-2e-7)
    expect(findSampleValue(families, 'c', {})).toBeNaN()
    expect(findSampleValue(families, 'd', { x: '}' })).toBe(Infinity)
    expect(findSampleValue(families, 'd', {})).toBeUndefined()
  })

  it.each([
    ['a line that does not end', '# TYPE a gauge\na 1'],
    ['an empty line', '# TYPE a gauge\n\na 1\n'],
    ['a series without a type', 'a 1\n'],
    ['a name that is none', '# TYPE a gauge\n1a 1\n'],
    ['a meaning after the type', '# TYPE a gauge\n# HELP a b\na 1\n'],
    ['a meaning without a type', '# HELP a b\na 1\n'],
    ['a meaning twice', '# HELP a b\n# HELP a b\n# TYPE a gauge\na 1\n'],
    ['a type twice', '# TYPE a gauge\na 1\n# TYPE a gauge\na{b="c"} 1\n'],
    ['a type that there is not', '# TYPE a number\na 1\n'],
    ['a type without a series', '# TYPE a gauge\n'],
    ['series of a name apart from one another', '# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{c="d"} 1\n'],
    ['a series twice', '# TYPE a gauge\na{b="c",d="e"} 1\na{d="e",b="c"} 2\n'],
    ['a label twice', '# TYPE a gauge\na{b="c",b="d"} 1\n'],
    ['a label that is none', '# TYPE a gauge\na{1b="c"} 1\n'],
    ['a quotation mark that is not escaped', '# TYPE a gauge\na{b="c"d"} 1\n'],
    ['an escape that there is not', '# TYPE a gauge\na{b="\\t"} 1\n'],
    ['an escape that there is not in a meaning', '# HELP a \\t\n# TYPE a gauge\na 1\n'],
    ['a value that is no number', '# TYPE a gauge\na nan(1)\n'],
    ['two values', '# TYPE a gauge\na 1 2\n'],
    ['no value', '# TYPE a gauge\na \n'],
  ])('refuses %s', (_fault, text) => {
    expect(() => parseExposition(text)).toThrow()
  })
})
