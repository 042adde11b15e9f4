// @module-tag long
import { Session } from 'chdb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Rejection } from './rejection.ts'
import { checkReadOnly } from './read-only.ts'

let session: Session
beforeAll(() => {
  session = new Session()
})
afterAll(() => session.cleanup())

const isAccepted = (sql: string): boolean => {
  try {
    checkReadOnly(sql)
    return true
  } catch (error) {
    if (error instanceof Rejection) return false
    throw error
  }
}

/** Returns the statements that ClickHouse can parse. Uses one query for all, because each failed query is slow. */
const parsed = (statements: readonly string[]): readonly string[] => {
  const columns = "arrayMap(s -> isNotNull(formatQuerySingleLineOrNull(s)), splitByChar('\\n', unhex({hex:String})))"
  const hex = Buffer.from(statements.join('\n')).toString('hex')
  const are = session.queryBind(`SELECT arrayStringConcat(${columns})`, { hex }, 'TSVRaw')
  return statements.filter((_, index) => are[index] === '1')
}

/** Text other than keywords after which an expression begins or ends. */
const others = [
  '',
  '(a)',
  "'a'",
  'a,',
  '-',
  'TOP 1',
  'TOP (1)',
  'TOP -1',
  'TOP 1 WITH TIES',
  'DISTINCT ON (a)',
  'INTERPOLATE (a)',
]
const several = [
  'AT TIME ZONE',
  'LEFT ARRAY JOIN',
  'GROUP BY',
  'LIMIT 1 BY',
  'NOT LIKE',
  'GLOBAL NOT IN',
  'IS DISTINCT FROM',
  'FETCH FIRST',
]
const strict = ['* EXCEPT STRICT', '* REPLACE STRICT', 'COLUMNS(a) APPLY(f)', 'SAMPLE .', 'a ? b :', 'x ->', 'OVER ()']
const contexts: readonly ((piece: string) => string)[] = [
  (piece) => `SELECT ${piece}`,
  (piece) => `SELECT ${piece} DAY`,
  (piece) => `SELECT trim(${piece} FROM 'x')`,
  (piece) => `SELECT substring('a' ${piece})`,
  (piece) => `SELECT overlay('abc' ${piece} FROM 1)`,
  (piece) => `SELECT * ${piece} AS dummy FROM system.one`,
  (piece) => `SELECT ${piece} AS dummy FROM system.one`,
  (piece) => `SELECT * FROM system.one AS t ${piece}`,
  (piece) => `SELECT * FROM system.one ORDER BY 1 WITH FILL ${piece}`,
  (piece) => `SELECT 1 FROM t JOIN u ${piece}`,
  (piece) => `SELECT sum(1) OVER (ORDER BY 1 ${piece} PRECEDING)`,
  (piece) => `SELECT CASE ${piece} THEN 2 END`,
  (piece) => `SELECT 1 FROM (${piece})`,
]

/** Returns the statements that the guard accepts although ClickHouse parses them as harmful. */
const passed = (ends: readonly string[], end: string, isHarmful: (tree: string) => boolean) => {
  const single = "SELECT keyword FROM system.keywords WHERE keyword NOT LIKE '% %'"
  const keywords = session.query(single, 'TSVRaw').trim().split('\n')
  expect(keywords.length).toBeGreaterThan(300)
  const pieces = [...keywords, ...others, ...several, ...strict].flatMap((before) =>
    ends.map((after) => `${before} ${after}`),
  )
  const statements = contexts.flatMap((context) => pieces.map((piece) => context(piece)))
  const accepted = parsed(statements.filter((sql) => isAccepted(sql + end)))
  expect(accepted.length).toBeGreaterThan(100)
  return accepted.filter((sql) => isHarmful(session.query(`EXPLAIN AST ${sql}`, 'TSVRaw')))
}

/** Returns whether the second operand of an IN in the syntax tree contains `what`. */
const readsSet = (tree: string, what: string): boolean => {
  const lines = tree.split('\n')
  const depth = (line = ''): number => line.length - line.trimStart().length
  return lines.some((line, index) => {
    if (!/Function (?:global)?(?:not)?in\b/i.test(line)) return false
    const rest = lines.slice(index + 1)
    const end = rest.findIndex((other) => depth(other) <= depth(line))
    const operands = rest.slice(0, end < 0 ? undefined : end).filter((other) => depth(other) === depth(line) + 2)
    return operands[1]?.includes(what) === true
  })
}

it('accepts no table after IN in a statement that reads a cluster, after any keyword', () => {
  const ends = ['IN data', 'in(1, data)', 'in(1, data AS b)', 'as IN (data AS y)', 'NOT in(1, data)', 'a IN data']
  const end = " UNION ALL SELECT * FROM cluster('c', system.one)"
  expect(passed(ends, end, (tree) => readsSet(tree, 'Identifier data'))).toEqual([])
})

it('accepts no unknown function after IN, after any keyword', () => {
  const ends = ["IN somethingNew('x')", "IN (somethingNew('x'))", "as IN somethingNew('x')", "in(1, somethingNew('x'))"]
  expect(passed(ends, '', (tree) => readsSet(tree, 'Function somethingNew'))).toEqual([])
})

it('accepts no unknown table function and no SETTINGS clause, after any keyword', () => {
  const sources = [
    "as FROM somethingNew('x')",
    "is distinct FROM somethingNew('x')",
    "array JOIN somethingNew('x') ON 1",
  ]
  const ends = [...sources, ", somethingNew('x')", 'as SETTINGS max_threads, readonly = 0']
  const harmful = /TableExpression[^\n]*\n\s*Function somethingNew|^\s*Set$/m
  expect(passed(ends, '', (tree) => harmful.test(tree))).toEqual([])
})
