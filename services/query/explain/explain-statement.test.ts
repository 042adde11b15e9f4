import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { toExplainableStatement, buildExplainStatement, toCallerError } from './explain.ts'
import { toResponseError } from '../clickhouse/failure.ts'
import { testHost } from '../testing/response-bodies.ts'

const failureOf = (work: () => unknown): ServiceError => {
  try {
    work()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('the statement was not rejected')
}

describe('a statement to explain', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    ['SELECT 1 ;  ; ', 'SELECT 1'],
    ['SELECT 1 FORMAT JSONEachRow;', 'SELECT 1'],
    ['SELECT 1 format /* x */ CSV -- end', 'SELECT 1'],
    ['SELECT 1 AS format', 'SELECT 1 AS format'],
    ["SELECT 'a FORMAT CSV'", "SELECT 'a FORMAT CSV'"],
    ['WITH 1 AS x SELECT x', 'WITH 1 AS x SELECT x'],
  ])('%j is explained as %j', (given, explained) => {
    expect(toExplainableStatement(given)).toEqual({ statement: explained, settings: [] })
  })

  it.each([
    ['DROP TABLE t', 'first-word', 0],
    ['  EXPLAIN SELECT 1', 'first-word', 2],
    ['SELECT 1; SELECT 2', 'several-statements', 8],
    ["SELECT * FROM url('http://x')", 'function', 14],
    ['', 'empty', 0],
  ])('%j is refused', (given, reason, position) => {
    expect(failureOf(() => toExplainableStatement(given))).toMatchObject({
      code: 'invalid',
      details: { parameter: 'query', reason, position },
    })
  })

  it('sends its settings with the request, below the limits', () => {
    const { statement, settings } = toExplainableStatement('SELECT 1 SETTINGS max_threads = 1 FORMAT CSV')
    expect([statement, settings]).toEqual(['SELECT 1', [{ name: 'max_threads', value: '1' }]])
    const planning = { max_threads: '1', max_memory_usage: '0' }
    expect(buildExplainStatement(statement, 'plan', {}, undefined, planning).limits).toMatchObject({
      max_threads: '1',
      max_memory_usage: 1_073_741_824,
    })
  })

  it('has limits for time, memory and result that are not part of its text', () => {
    const { sql, limits, maxSeconds } = buildExplainStatement('SELECT 1', 'plan', {}, undefined)
    expect(sql).toBe('EXPLAIN PLAN json = 1\nSELECT 1')
    expect(Object.keys(limits ?? {})).toEqual(
      expect.arrayContaining(['max_memory_usage', 'max_result_rows', 'max_result_bytes']),
    )
    expect(maxSeconds).toBeLessThanOrEqual(15)
  })

  it.each([
    ['plan', { indexes: true, json: false }, 'EXPLAIN PLAN json = 0, indexes = 1\n'],
    ['plan', { pretty: 1 }, 'EXPLAIN PLAN pretty = 1\n'],
    ['query-tree', { passes: 3 }, 'EXPLAIN QUERY TREE passes = 3\n'],
    ['estimate', {}, 'EXPLAIN ESTIMATE\n'],
  ] as const)('%s with %j starts with %j', (mode, settings, begins) => {
    expect(buildExplainStatement('SELECT 1', mode, settings, undefined).sql).toBe(`${begins}SELECT 1`)
  })

  it('rejects settings that its mode does not have', () => {
    const failure = failureOf(() => buildExplainStatement('SELECT 1', 'ast', { 'json = 1, x': 1 }, undefined))
    expect(failure).toMatchObject({ code: 'invalid', details: { parameter: 'planSettings.json = 1, x' } })
    expect(failure.message).toContain('allowed: graph, optimize')
  })
})

describe('the position of a syntax error', () => {
  const query = "SELECT 'ö' FROM"
  const sent = `EXPLAIN PLAN json = 1\n${query}`

  it('refers to the text of the caller', () => {
    const said = 'host a: Syntax error: failed at position 39 (end of query) (line 2, col 17): . (62 SYNTAX_ERROR)'
    const failure = new ServiceError('invalid', said, { details: { clickhouseCode: 62 } })
    expect(toCallerError(failure, sent, query)).toMatchObject({
      code: 'invalid',
      message: 'host a: Syntax error: failed at position 17 (end of query) (line 1, col 17): . (62 SYNTAX_ERROR)',
      details: { clickhouseCode: 62, parameter: 'query', position: query.length },
    })
  })

  it('is unchanged for errors without a position', () => {
    const failure = new ServiceError('timeout', 'host a did not answer in time')
    expect(toCallerError(failure, sent, query)).toBe(failure)
  })
})

describe("the status of a caller's statement", () => {
  it.each([
    [241, 'Query memory limit exceeded: would use 9.5 GiB', 'too-large'],
    [241, 'Memory limit (for query) exceeded: would use 9.5 GiB', 'too-large'],
    [241, '(total) memory limit exceeded: would use 60 GiB', 'unavailable'],
    [241, 'Memory limit (total) exceeded: would use 60 GiB', 'unavailable'],
    [241, 'User memory limit exceeded: would use 60 GiB', 'unavailable'],
    [158, 'Limit for rows exceeded', 'too-large'],
    [307, 'Limit for (uncompressed) bytes to read exceeded', 'too-large'],
    [396, 'Limit for result exceeded, max rows', 'too-large'],
    [159, 'Timeout exceeded: elapsed 1.1 seconds', 'timeout'],
    [394, 'Query was cancelled', 'gone'],
    [999, 'Something new', 'invalid'],
  ])('that fails with %i and %j is %s', (code, sentence, status) => {
    const failure = toResponseError(testHost, 500, `Code: ${code}. DB::Exception: ${sentence}. (SOME_NAME)`)
    expect(toCallerError(failure, 'SELECT 1', 'SELECT 1')).toMatchObject({
      code: status,
      message: expect.stringContaining(sentence),
      details: { clickhouseCode: code },
    })
  })
})
