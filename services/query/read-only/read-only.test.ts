import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Rejection } from './rejection.ts'
import { checkReadOnly } from './read-only.ts'

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
  it.each(corpus.filter(({ verdict }) => verdict === 'reject'))('rejects $sql: $why', ({ sql }) => {
    expect(reasonFor(sql)).not.toBe('accepted')
  })

  it.each(corpus.filter(({ verdict }) => verdict === 'accept'))('accepts $sql: $why', ({ sql }) => {
    expect(reasonFor(sql)).toBe('accepted')
  })
})

describe('a statement that writes', () => {
  it.each([
    'INSERT INTO t VALUES (1)',
    'ALTER TABLE t ADD COLUMN a Int8',
    'DROP TABLE t',
    'CREATE TABLE t (a Int8) ENGINE = Memory',
    'TRUNCATE TABLE t',
    'RENAME TABLE t TO u',
    'DELETE FROM t WHERE 1',
    'UPDATE t SET a = 1 WHERE 1',
    'SYSTEM RELOAD CONFIG',
    'SYSTEM FLUSH LOGS',
    'SYSTEM KILL',
    'SYSTEM SHUTDOWN',
    'GRANT SELECT ON t TO u',
    'REVOKE SELECT ON t FROM u',
    'ATTACH TABLE t',
    'DETACH TABLE t',
    'KILL QUERY WHERE 1',
    'SET max_threads = 1',
  ])('is rejected, also after EXPLAIN and after a read: %s', (sql) => {
    for (const statement of [sql, `EXPLAIN ${sql}`, `SELECT 1; ${sql}`, sql.toLowerCase()]) {
      expect(reasonFor(statement)).not.toBe('accepted')
    }
  })

  it.each(["remote('h', d.t)", "url('http://h/')", "s3('http://h/b')"])('is rejected as the function %s', (source) => {
    expect(reasonFor(`SELECT * FROM ${source}`)).toBe('function')
  })

  it.each(['SELECT 1', 'WITH 1 AS a SELECT a', 'DESCRIBE TABLE t', 'EXPLAIN SELECT 1'])('is not %s', (sql) => {
    expect(reasonFor(sql)).toBe('accepted')
  })
})

describe('the reason of a rejection', () => {
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
    ["SELECT * FROM (somethingNew('x') JOIN b USING c)", 'source'],
    ["SELECT * FROM a JOIN ((somethingNew('x') JOIN b USING c) JOIN d USING c) USING c", 'source'],
    ["SELECT * FROM a JOIN b ON a.c = b.c, somethingNew('x')", 'source'],
    ["SELECT * FROM a JOIN b USING (c), somethingNew('x')", 'source'],
    ["SELECT * FROM a SAMPLE 1/2 OFFSET 1/2, somethingNew('x')", 'source'],
    ["SELECT * FROM format, somethingNew('x')", 'source'],
    ["SELECT * FROM a AS format, somethingNew('x')", 'source'],
    ["SELECT a * from FROM somethingNew('x')", 'source'],
    ["SELECT as FROM somethingNew('x')", 'source'],
    ["SELECT ALL as FROM somethingNew('x')", 'source'],
    ["SELECT * FROM t select, somethingNew('x')", 'source'],
    ["SELECT * FROM t JOIN u ON group, somethingNew('x')", 'source'],
    ["SELECT a, as FROM somethingNew('x')", 'source'],
    ['SELECT as SETTINGS max_threads, readonly = 0', 'settings'],
    ["SELECT a * from FROM t JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM array JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT NOT distinct FROM somethingNew('x')", 'source'],
    ["SELECT is distinct FROM somethingNew('x')", 'source'],
    ["DESCRIBE TABLE (SELECT * FROM somethingNew('x'))", 'source'],
    ['SELECT 1 = "sl\\x65ep"(3)', 'function'],
    ["SELECT a IN `u\\x72l`('http://x') FROM t", 'function'],
    ["SELECT * APPLY(file) FROM (SELECT '/etc/passwd')", 'function'],
    ['SELECT COLUMNS(a) EXCEPT b APPLY lower APPLY sleep FROM t', 'function'],
    ["SELECT arrayMap(file, ['/etc/passwd'])", 'function'],
    ["SELECT arrayMap((file) AS f, ['/etc/passwd'])", 'function'],
    ["SELECT modelEvaluate('m', 1.0)", 'function'],
    ["SELECT icebergS3('x')", 'function'],
    ['SELECT 1 AS settings, 2 SETTINGS readonly = 0', 'settings'],
    ['EXPLAIN DELETE FROM t WHERE 1', 'write'],
    ["SELECT {a:UInt8}.1e--, url('x')", 'function'],
    ["SELECT 1e--, url('x')", 'function'],
    ["SELECT 1$a$ ' $a$, url('x') -- '", 'function'],
    ["DESCRIBE viewIfPermitted(SELECT 1 AS a ELSE somethingNew('x'))", 'source'],
    ["SELECT aiGenerateAnything('x')", 'function'],
    ["SELECT getClientHTTPHeader('Authorization')", 'function'],
    ["SELECT TOP 1 as FROM somethingNew('x')", 'source'],
    ["SELECT TOP -1 as FROM somethingNew('x')", 'source'],
    ["SELECT DISTINCT TOP (1) as FROM somethingNew('x')", 'source'],
    ["SELECT TOP 1 WITH TIES as FROM somethingNew('x') ORDER BY 1", 'source'],
    ["SELECT DISTINCT ON (a) as FROM somethingNew('x')", 'source'],
    ["SELECT DISTINCT ON (a, (b)) is distinct FROM somethingNew('x')", 'source'],
    ["SELECT TOP 1 is distinct FROM somethingNew('x')", 'source'],
    ['SELECT TOP 1 as SETTINGS max_threads, readonly = 0', 'settings'],
    ["SELECT * EXCEPT STRICT as FROM somethingNew('x')", 'source'],
    ["SELECT a REGEXP as FROM somethingNew('x')", 'source'],
    ["SELECT lower(a) OVER as FROM somethingNew('x')", 'source'],
    ["WITH RECURSIVE as FROM somethingNew('x') SELECT 1", 'source'],
    ["SELECT * FROM t JOIN u USING as JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM t JOIN u ON as JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM t JOIN u USING array JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM t JOIN u ON array JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM t JOIN u ON 1 = array JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT a, FROM array JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM t JOIN u ON limit = a, somethingNew('x')", 'source'],
    ["SELECT * FROM t JOIN u ON CASE limit END, somethingNew('x')", 'source'],
    ["SELECT * FROM t JOIN u ON COLUMNS('a') EXCEPT b, somethingNew('x')", 'source'],
    ["SELECT * FROM t JOIN u select ON a, somethingNew('x')", 'source'],
    ["SELECT * FROM t SAMPLE . JOIN somethingNew('x') ON 1", 'source'],
    ["SELECT * FROM t SAMPLE 1 / . JOIN somethingNew('x') ON 1", 'source'],
    ['SELECT * FROM t SAMPLE . SETTINGS readonly = 0', 'settings'],
    ['EXPLAIN AST USE d', 'first-word'],
    ['EXPLAIN AST COMMIT', 'first-word'],
    ['EXPLAIN AST (COMMIT)', 'first-word'],
    ['EXPLAIN AST graph = 0, optimize = -1 BEGIN TRANSACTION', 'first-word'],
    ['EXPLAIN AST EXPLAIN AST EXECUTE AS u SELECT 1', 'first-word'],
    ['EXPLAIN AST REPLACE TABLE t (a Int8) ENGINE = Memory', 'first-word'],
    ['EXPLAIN AST SET a = 1', 'write'],
    ["SELECT 1 IN somethingNew('x')", 'source'],
    ["SELECT 1 GLOBAL NOT IN `somethingNew`('x')", 'source'],
    ["SELECT 1 IN d.somethingNew('x')", 'source'],
    ["SELECT 1 IN toNewSource('x')", 'source'],
    ["SELECT 1 IN getNew('x')", 'source'],
    ["SELECT 1 IN mapX('x'), 2", 'source'],
    ["SELECT 1 NOT IN (newSource('x'))", 'source'],
    ["SELECT 1 IN ((newSource('x') AS y))", 'source'],
    ["SELECT 1 IN (`newSource`('x', lower('a')))", 'source'],
    ["SELECT in(1, newSource('x'))", 'source'],
    ["SELECT globalNotIn(1, (newSource('x')))", 'source'],
    ["SELECT 1 IN table('x')", 'source'],
    ["EXPLAIN somethingNew('x')", 'source'],
    ["EXPLAIN PLAN somethingNew('x')", 'source'],
    ["DESCRIBE TABLE somethingNew('x')", 'source'],
    ['WITH 1 AS a, INSERT INTO t SELECT a', 'write'],
    ['WITH 1 AS a, INSERT TABLE t SELECT a', 'write'],
    ['EXPLAIN (DELETE FROM t)', 'write'],
    ['EXPLAIN AST ((DROP TABLE t))', 'write'],
    ['SELECT * FROM (EXPLAIN AST optimize = DEFAULT ((DROP TABLE t)))', 'write'],
    ['EXPLAIN AST SYSTEM FLUSH LOGS', 'write'],
    ["SELECT extract(DAY FROM d), * FROM somethingNew('x')", 'source'],
    ["SELECT 'a", 'unreadable'],
    ['SELECT $$a', 'unreadable'],
    ["SELECT x'4G'", 'unreadable'],
    ["SELECT b'01", 'unreadable'],
    ['SELECT \u0000', 'unreadable'],
    [`SELECT '${'a'.repeat(100_001)}'`, 'too-long'],
  ])('%s → %s', (sql, reason) => {
    expect(reasonFor(sql)).toBe(reason)
  })

  it.each([
    ['SELECT 1, sleep(3)', 'sleep'],
    ["SELECT 'größer', '日本', '😀' /* é */, sleep(3)", 'sleep'],
    ["WITH 'é' AS a INSERT INTO t SELECT a", 'INSERT'],
    ["SELECT 'é', * APPLY(sleep)", 'sleep'],
    ["SELECT 'é' FROM (somethingNew('x') JOIN b USING c)", 'somethingNew'],
    ["SELECT 'é' FROM t SETTINGS a = 1", 'SETTINGS'],
    ["SELECT 'é'; SELECT 2", ';'],
    ['EXPLAIN AST /* é */ graph = 1 (COMMIT)', 'COMMIT'],
    ["SELECT TOP 1 as /* é */ FROM somethingNew('x')", 'somethingNew'],
    ["SELECT 'é' “ FROM t", '“'],
  ])('reports the position in %s', (sql, word) => {
    expect(() => checkReadOnly(sql)).toThrow(expect.objectContaining({ position: sql.indexOf(word) }))
  })
})

it('explains how to read a parameterized view', () => {
  expect(() => checkReadOnly('SELECT * FROM v(a = 3)')).toThrow('write a parameterized view with its database')
})

describe('a usual statement', () => {
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
    'SELECT * FROM d.view_with_parameters(a = 3)',
    'SELECT /* a /* b */ c */ 1',
    "SELECT * FROM merge('system', '^query_log')",
    'SELECT 5 \u2212 3',
    'SELECT * FROM clusterAllReplicas(default, system.parts)',
    "SELECT * FROM cluster('all', system, one, cityHash64(dummy))",
    "SELECT * FROM cluster(all, merge('system', '^query_log'), rand())",
    "SELECT * FROM viewIfPermitted(SELECT 1 AS a ELSE null('a UInt8'))",
    'SELECT explain FROM (EXPLAIN SYNTAX (SELECT 1))',
    'EXPLAIN PIPELINE (SELECT 1)',
    'EXPLAIN AST (SELECT 1)',
    'DESCRIBE TABLE (SELECT 1)',
    'DESCRIBE WITH (SELECT 1) AS a SELECT a',
    "SELECT table IN ('a'), desc || lower('B') FROM t",
    "SELECT table || lower('A') FROM system.parts",
    'WITH table AS (SELECT 1) SELECT * FROM table',
    'SELECT * FROM ((SELECT 1) AS a JOIN (SELECT 2) AS b ON 1)',
    'SELECT * FROM (a JOIN numbers(3) AS b ON a.c = b.number)',
    "SELECT * FROM (VALUES (1, 'a'), (toUInt8(2), lower('B')))",
    'SELECT * FROM (WITH (SELECT 1) AS a, lower(b) AS c SELECT a)',
    'SELECT * FROM (FROM (SELECT 1 AS a) SELECT a, lower(a))',
    'SELECT a AS join, lower(b), c AS from, lower(d) FROM t',
    'SELECT join, lower(a), from, lower(b) FROM t',
    'SELECT * FROM a JOIN b USING c, numbers(3) WHERE a.d IN (1, 2)',
    'SELECT icebergBucket(16, id), icebergTruncate(3, name), icebergHash(id) FROM t',
    'SELECT * EXCEPT a APPLY(lower) APPLY x -> x || 1 FROM t',
    'SELECT arrayMap(lower, names), arraySum(file), arrayConcat(url, file) FROM t',
    'SELECT set, insert, kill > 1, (drop), update.a FROM t ORDER BY alter',
    'SELECT a AS delete, b AS update FROM t',
    'SELECT avg(a) AS delete FROM t',
    'SELECT drop AS d FROM t',
    'SELECT s.name FROM system.settings AS settings JOIN system.one AS s ON settings.a = s.a',
    "SELECT 'a'.1, .5, 1., 1_000.5e-3, 0x1Fp3, 0b101, x'41', b'01', (1, 2).1, t.1.2",
    'SELECT\u00851',
    "SELECT x IN tuple(1, 2), x GLOBAL NOT IN array(1, 2), x IN splitByChar(',', 'a,b'), in(x, identity(1)) FROM t",
    'SELECT table IS DISTINCT FROM lower(name), format IS NOT DISTINCT FROM lower(name) FROM system.tables',
    'SELECT TOP 5 a AS from, lower(b) FROM t',
    'SELECT DISTINCT ON (a) b AS from, lower(b) FROM t',
    'SELECT * FROM t JOIN u USING (a) ARRAY JOIN splitByChar(b) AS c',
    'SELECT * FROM t FINAL LEFT ARRAY JOIN splitByChar(b) AS c',
    'SELECT * FROM a AS join USING (c) ORDER BY lower(a), lower(b)',
    'SELECT * FROM t EXCEPT ALL SELECT a, lower(b) FROM u EXCEPT (SELECT a, lower(b) FROM v)',
    'EXPLAIN FROM t SELECT a, lower(b)',
    'SELECT 1, 2 UNION ALL FROM t SELECT a, lower(b) EXCEPT FROM t SELECT a, lower(b)',
    'EXPLAIN AST optimize = 0 SELECT 1',
    'EXPLAIN AST graph = 1, optimize = 0 (SELECT 1)',
    'EXPLAIN AST FROM t SELECT a',
    'EXPLAIN AST DESC t',
    'EXPLAIN AST EXPLAIN SELECT 1',
    'SELECT explain ast FROM t',
    'SELECT set, delete FROM (SELECT 1 AS set, 2 AS delete)',
    'SELECT delete FROM t',
    'SELECT a, delete FROM t',
    'SELECT drop, system FROM t',
    'SELECT update + 1 FROM t WHERE delete AND set > 1 ORDER BY kill DESC, alter ASC',
    'SELECT system s FROM system',
    'SELECT * FROM update JOIN drop ON update.a = drop.a',
    'SELECT count(delete), sum(set) FROM t WHERE delete IS NOT NULL GROUP BY set HAVING update',
    'SELECT CASE WHEN delete THEN set ELSE update END FROM t',
    "SELECT set::Int8, -delete, NOT drop FROM t WHERE system IN (1, 2) AND rename LIKE 'x'",
    'SELECT x IN tuple(1, 2), x GLOBAL NOT IN array(1, 2) FROM t',
    "SELECT x IN (currentUser(), ownFunction(1), 'b'), x IN ('a', ownFunction(1)), x IN (ownFunction(1), 2) FROM t",
    'SELECT x IN (SELECT ownFunction(1)), x IN (WITH (SELECT 1) AS a SELECT a), x IN (NOT (a)) FROM t',
    'SELECT sum(delete + set), sum(set - 1), max(insert[1]) FROM t WHERE (delete OR update) AND (kill IN (1, 2))',
    'SELECT if(set IS NULL, drop, 1), arrayMap(set -> set + 1, x), ((update LIKE a)) FROM t',
    'EXPLAIN SELECT sum(delete * 2) FROM t WHERE (delete OR system AND x)',
    'SELECT in FROM (SELECT 1 AS in)',
    'SELECT cluster, remote FROM hits',
    "SELECT * FROM t WHERE x IN (lower('a'))",
    'EXPLAIN actions = 1 SELECT 1',
    "SELECT table IN ('a'), table AND (1) FROM t",
  ])('is accepted: %s', (sql) => {
    expect(reasonFor(sql)).toBe('accepted')
  })
})
