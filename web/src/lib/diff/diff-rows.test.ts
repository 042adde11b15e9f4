import { describe, expect, it } from 'vitest'
import { countDiffLines, parseUnifiedDiff, splitDifference } from './diff-rows.ts'

const diff = `--- shop.orders
+++ shop.orders
@@ -3,4 +3,5 @@
 \`id\` UInt64,
-\`price\` Float32,
+\`price\` Float64,
+\`tax\` Float64,
 \`at\` DateTime
 )
`

describe('a unified diff', () => {
  it('becomes rows with the lines of both sides next to each other', () => {
    const [hunk, ...others] = parseUnifiedDiff(diff)
    expect(others).toEqual([])
    expect(hunk?.skipped).toBe(2)
    expect(hunk?.rows.map(({ before, after, isChanged }) => [before?.number, after?.number, isChanged])).toEqual([
      [3, 3, false],
      [4, 4, true],
      [undefined, 5, true],
      [5, 6, false],
      [6, 7, false],
    ])
    expect(countDiffLines(parseUnifiedDiff(diff))).toEqual({ added: 2, removed: 1 })
  })

  it('of several sections states how many lines are left out', () => {
    const two = `@@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -10,1 +10,1 @@\n-d\n+e\n`
    expect(parseUnifiedDiff(two).map(({ skipped }) => skipped)).toEqual([0, 7])
  })

  it('without sections has no rows', () => {
    expect(parseUnifiedDiff('')).toEqual([])
    expect(parseUnifiedDiff('--- a\n+++ b\n')).toEqual([])
  })
})

it.each([
  ['`price` Float32', '`price` Float64', 'Float32'],
  ['max_threads 8', 'max_threads 16', '8'],
  ['same', 'same', ''],
  ['a b', 'a x b', ''],
  ['a x b', 'a b', 'x '],
])('of %j and %j, the difference is %j', (text, other, expected) => {
  const parts = splitDifference(text, other)
  expect(
    parts
      .filter(({ isDifferent }) => isDifferent)
      .map((part) => part.text)
      .join(''),
  ).toBe(expected)
  expect(parts.map((part) => part.text).join('')).toBe(text)
})
