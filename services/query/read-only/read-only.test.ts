import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkReadOnly } from './read-only.ts'
import { Rejection } from './rejection.ts'

const Case = z.object({ sql: z.string(), verdict: z.enum(['accept', 'reject']), why: z.string(), category: z.string() })
const corpus = z.array(Case).parse(JSON.parse(readFileSync(new URL('corpus.json', import.meta.url), 'utf8')))

const reasonFor = (sql: string): string => {
  try {
    checkReadOnly(sql)
    return 'accepted'
  } catch (error) {
    if (error instanceof Rejection) return error.reason
    throw error
  }
}

describe('the corpus', () => {
  it.each(corpus.filter(({ verdict }) => verdict === 'reject'))('refuses $sql: $why', ({ sql }) => {
    expect(reasonFor(sql)).not.toBe('accepted')
  })

  it.each(corpus.filter(({ verdict }) => verdict === 'accept'))('lets through $sql: $why', ({ sql }) => {
    expect(reasonFor(sql)).toBe('accepted')
  })
})

describe('what a statement is refused for', () => {
  it.each([
    ['', 'empty'],
    [';;', 'empty'],
    ['SELECT 1; SELECT 2', 'several-statements'],
    ['SELECT 1 PARALLEL WITH SELECT 2', 'several-statements'],
    ['SHOW TABLES', 'first-word'],
    ['(SELECT 1)', 'first-word'],
    ['WITH 1 AS a INSERT INTO t SELECT a', 'write'],
    ['EXPLAIN SYSTEM RELOAD CONFIG', 'write'],
    ['SELECT 1 SETTINGS `readonly` = 0', 'settings'],
    ["SELECT 1 INTO OUTFILE 'x'", 'output'],
    ["SELECT `url`('http://x')", 'function'],
    ['SELECT * FROM t, "UrL"(\'http://x\')', 'function'],
    ["SELECT hasColumnInTable('other:9000', 'd', 't', 'c')", 'function'],
    ["SELECT * FROM somethingNew('x')", 'source'],
    ["SELECT * FROM a, somethingNew('x')", 'source'],
    ["SELECT * FROM a JOIN somethingNew('x') ON 1", 'source'],
    ["DESCRIBE somethingNew('x')", 'source'],
    ["WITH fill FROM somethingNew('x') SELECT 1", 'source'],
    ["SELECT 1 ORDER BY 1 UNION ALL WITH fill FROM somethingNew('x') SELECT 1", 'source'],
    ["SELECT t FROM a ORDER BY t WITH FILL FROM (SELECT 1 FROM somethingNew('x')) TO 5", 'source'],
    ["EXPLAIN TABLE OVERRIDE somethingNew('x')", 'source'],
    ["DESCRIBE cluster('all', somethingNew('x'))", 'source'],
    ["SELECT * FROM a JOIN clusterAllReplicas(all, `somethingNew`('x')) USING b", 'source'],
    ["DESCRIBE viewIfPermitted(SELECT 1 AS a ELSE somethingNew('x'))", 'source'],
    ["SELECT aiGenerateWhatever('x')", 'function'],
    ["SELECT getClientHTTPHeader('Authorization')", 'function'],
    ["SELECT extract(DAY FROM d), * FROM somethingNew('x')", 'source'],
    ["SELECT 'a", 'unreadable'],
    ['SELECT $$a', 'unreadable'],
    ['SELECT \u0000', 'unreadable'],
    [`SELECT '${'a'.repeat(100_001)}'`, 'too-long'],
  ])('%s → %s', (sql, reason) => {
    expect(reasonFor(sql)).toBe(reason)
  })

  it('says where', () => {
    expect(() => checkReadOnly('SELECT 1, sleep(3)')).toThrow(expect.objectContaining({ position: 10 }))
  })
})

describe('what people write', () => {
  it.each([
    'SELECT extract(DAY FROM toDate(now())) FROM t',
    "SELECT trim(BOTH ' ' FROM concat(a, b)) FROM t",
    'SELECT a IS NOT DISTINCT FROM toString(b) FROM t',
    'SELECT t FROM a ORDER BY t WITH FILL FROM toStartOfHour(now()) TO now() STEP toIntervalHour(1)',
    'SELECT k, v FROM t ARRAY JOIN mapKeys(m) AS k, mapValues(m) AS v',
    'SELECT t.1.2, 1.5, .5, 1e3, 0xFF, 1_000, x[1].2 FROM t',
    'SELECT {name:String}, a::UInt8, x -> x + 1',
    "SELECT hasColumnInTable('d', 't', 'c')",
    'SELECT a FROM t GROUP BY table WITH TOTALS',
    "SELECT Settings['max_threads'], mapKeys(Settings) FROM system.query_log ORDER BY Settings DESC",
    'SELECT * FROM 1d_table',
    'SELECT /* a /* b */ c */ 1',
    "SELECT * FROM merge('system', '^query_log')",
    'SELECT 5 \u2212 3',
    'SELECT * FROM clusterAllReplicas(default, system.parts)',
    "SELECT * FROM cluster('all', system, one, cityHash64(dummy))",
    "SELECT * FROM cluster(all, merge('system', '^query_log'), rand())",
    "SELECT * FROM viewIfPermitted(SELECT 1 AS a ELSE null('a UInt8'))",
  ])('%s', (sql) => {
    expect(reasonFor(sql)).toBe('accepted')
  })
})
