import { describe, expect, it } from 'vitest'
import { parseSelector } from './selector.ts'

const takes = (selector: string, name: string, labels: Record<string, string> = {}): boolean => {
  const { takesName, takesLabels } = parseSelector(selector)
  return takesName(name) && takesLabels(labels)
}

describe('a series selector', () => {
  it.each([
    ['up', 'up', {}, true],
    ['up', 'upper', {}, false],
    [' up { } ', 'up', {}, true],
    ['a:b', 'a:b', {}, true],
    ['{__name__="up"}', 'up', {}, true],
    ['up{host="0"}', 'up', { host: '0' }, true],
    ['up{host="0"}', 'up', { host: '1' }, false],
    ['up{host="0"}', 'up', {}, false],
    ['{host="0"}', 'anything', { host: '0' }, true],
    ['up{host!="0"}', 'up', { host: '1' }, true],
    ['up{group=""}', 'up', { host: '1' }, true],
    ['{host=~"1|2"}', 'up', { host: '2' }, true],
    ['{host=~"1|2"}', 'up', { host: '12' }, false],
    ['{host!~"1.*",__name__=~"u.+"}', 'up', { host: '2' }, true],
    ['{host!~"1.*",__name__=~"u.+"}', 'up', { host: '12' }, false],
    ['{name=~"a.b",}', 'up', { name: 'a\nb' }, true],
    [String.raw`{name="a\"\\\n"}`, 'up', { name: 'a"\\\n' }, true],
    ["{name='a\"b'}", 'up', { name: 'a"b' }, true],
    ['{name=`a\\.b`}', 'up', { name: 'a\\.b' }, true],
    ['{name=~`a\\.b`}', 'up', { name: 'a.b' }, true],
    ['{name="},{"}', 'up', { name: '},{' }, true],
  ] as const)('%s beside %s%j: %s', (selector, name, labels, taken) => {
    expect(takes(selector, name, labels)).toBe(taken)
  })

  it.each([
    '',
    '{}',
    '{host!="0"}',
    '{__name__=~".*"}',
    'up{',
    'up}',
    'up{host}',
    'up{host=0}',
    'up{host="0}',
    'up{host=="0"}',
    'up{host="0" group="eu"}',
    'up{,}',
    'up{a.b="c"}',
    String.raw`up{host="\q"}`,
    'up{host=~"("}',
    'up{host=~"(?=0)"}',
    'up[5m]',
    'rate(up)',
    'up up',
  ])('rejects %s', (selector) => {
    expect(() => parseSelector(selector)).toThrow(/^match\[\] must be a Prometheus series selector/)
  })

  it('takes linear time for a malicious pattern', () => {
    const name = 'a'.repeat(200)
    expect(takes('{__name__=~"(a+)+b"}', name)).toBe(false)
    expect(takes('{__name__=~"(a|a)*a{100}"}', name)).toBe(true)
  })
})
