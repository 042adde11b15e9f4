import { describe, expect, it } from 'vitest'
import { expandVersions } from './versions.ts'

describe('a statement with expressions for versions', () => {
  it('becomes one statement per version', () => {
    const sql = "SELECT $from(24.1, toString(usage), '') AS cache, $from(26.6, f(a, ','), [a, b]) AS agent"
    expect(expandVersions([{ since: '23.8', sql }])).toEqual([
      { since: '23.8', sql: "SELECT '' AS cache, [a, b] AS agent" },
      { since: '24.1', sql: 'SELECT toString(usage) AS cache, [a, b] AS agent' },
      { since: '26.6', sql: "SELECT toString(usage) AS cache, f(a, ',') AS agent" },
    ])
  })

  it('has a statement for all older servers if it names no first version', () => {
    expect(expandVersions('SELECT $from(24.1, a, 0)')).toEqual([
      { since: '0', sql: 'SELECT 0' },
      { since: '24.1', sql: 'SELECT a' },
    ])
    expect(expandVersions('SELECT 1')).toBe('SELECT 1')
  })

  it('ignores versions up to the first one', () => {
    expect(expandVersions([{ since: '24.8', sql: '$from(24.1, a, 0)' }])).toEqual([{ since: '24.8', sql: 'a' }])
  })

  it.each(['$from(24.1, a)', '$from(24.1, a, b, c)', '$from(a, b, c)', '$from 24.1', '$from(24.1, a, b'])(
    'is refused as %j',
    (sql) => {
      expect(() => expandVersions(sql)).toThrow('$from needs')
    },
  )
})
