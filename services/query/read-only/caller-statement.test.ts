import { describe, expect, it } from 'vitest'
import { checkCallerStatement } from './caller-statement.ts'

describe('callersStatement', () => {
  it.each([
    ['SELECT 1 FORMAT JSON', 'SELECT 1'],
    ['SELECT * format "TSV" ; ', 'SELECT *'],
    ['SELECT f(a) FORMAT Vertical -- rows', 'SELECT f(a)'],
    ['SELECT a FROM t ORDER BY a DESC FORMAT CSV;', 'SELECT a FROM t ORDER BY a DESC'],
  ])('removes the FORMAT clause: %s', (sql, run) => {
    expect(checkCallerStatement(sql)).toBe(run)
  })

  it.each([
    'SELECT format FROM t GROUP BY format ORDER BY format DESC',
    'SELECT a FROM t ORDER BY a, format ASC',
    'SELECT a FROM t ORDER BY t.format DESC',
    'SELECT a FROM format f',
    'SELECT a, format b',
    'SELECT DISTINCT format b',
    "SELECT format('{}', a) FROM t",
  ])('keeps names that are format: %s', (sql) => {
    expect(checkCallerStatement(sql)).toBe(sql)
  })

  it('throws with reason and position', () => {
    expect(() => checkCallerStatement("SELECT 'é', sleep(1)")).toThrow(
      expect.objectContaining({ code: 'invalid', details: { parameter: 'query', reason: 'function', position: 12 } }),
    )
  })
})
