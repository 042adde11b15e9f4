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

/** Those that the engine can parse; asked at once, since a statement that it cannot parse is slow to fail. */
const parsed = (statements: readonly string[]): readonly string[] => {
  const columns = "arrayMap(s -> isNotNull(formatQuerySingleLineOrNull(s)), splitByChar('\\n', unhex({hex:String})))"
  const hex = Buffer.from(statements.join('\n')).toString('hex')
  const are = session.queryBind(`SELECT arrayStringConcat(${columns})`, { hex }, 'TSVRaw')
  return statements.filter((_, index) => are[index] === '1')
}

/** Pieces beside the engine's own keywords after which an expression begins or has ended. */
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

/** The statements that the guard accepts and the engine reads as what must be refused. */
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

/** What stands second below the operator IN, one space deeper for each level. */
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

it('reads no table behind IN beside a cluster, whatever keyword stands before', () => {
  const ends = ['IN data', 'in(1, data)', 'in(1, data AS b)', 'as IN (data AS y)', 'NOT in(1, data)', 'a IN data']
  const end = " UNION ALL SELECT * FROM cluster('c', system.one)"
  expect(passed(ends, end, (tree) => readsSet(tree, 'Identifier data'))).toEqual([])
})

it('calls nothing unknown behind IN, whatever keyword stands before', () => {
  const ends = ["IN somethingNew('x')", "IN (somethingNew('x'))", "as IN somethingNew('x')", "in(1, somethingNew('x'))"]
  expect(passed(ends, '', (tree) => readsSet(tree, 'Function somethingNew'))).toEqual([])
})

it('calls nothing unknown as a source and changes no setting, whatever keyword stands before', () => {
  const sources = [
    "as FROM somethingNew('x')",
    "is distinct FROM somethingNew('x')",
    "array JOIN somethingNew('x') ON 1",
  ]
  const ends = [...sources, ", somethingNew('x')", 'as SETTINGS max_threads, readonly = 0']
  const harmful = /TableExpression[^\n]*\n\s*Function somethingNew|^\s*Set$/m
  expect(passed(ends, '', (tree) => harmful.test(tree))).toEqual([])
})
