import { Session } from 'chdb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lex } from './lexer.ts'
import { allowedTableFunctions, isForbiddenFunction, inOperandFunctions } from './names.ts'
import { Rejection } from './rejection.ts'
import { checkReadOnly } from './read-only.ts'

/** Text that changes where strings and comments end, and statements that an attacker would hide in them. */
const borders = [
  "'",
  '"',
  '`',
  '$$',
  '$a$',
  '/*',
  '*/',
  '--',
  '#',
  '# ',
  '#!',
  '//',
  '\n',
  '\\',
  "\\'",
  "''",
  '\u2018',
  '\u2019',
  '\u201c',
  '\u201d',
  '\u200b',
  '\u00a0',
  '\u3000',
  '\\G',
  ';',
  '(',
  ')',
  ',',
  '.',
]
const words = [
  'SELECT',
  'TOP 1',
  'DISTINCT ON (a)',
  '1',
  'a',
  'AS',
  'is distinct',
  'USING',
  'FROM',
  't',
  'JOIN',
  'ON',
  'WITH',
  'UNION ALL',
  'EXPLAIN',
  'EXPLAIN AST',
  'DESCRIBE',
  'TABLE',
  'ARRAY',
  '*',
  'WHERE',
  'system.one',
  'numbers(3)',
  'x IN',
  'view(',
  'PARALLEL WITH',
  'SETTINGS',
  'SETTINGS a = 1',
  "INTO OUTFILE 'x'",
  'FORMAT JSON',
  'extract(DAY FROM',
]
const payloads = [
  "FROM somethingNew('x')",
  "JOIN somethingNew('x') ON 1",
  "url('http://x', CSV)",
  "`url`('http://x', CSV)",
  '"s3"(\'http://x\')',
  "file('/etc/passwd')",
  String.raw`1 = "sl\x65ep"(3)`,
  '* APPLY(sleep)',
  'COLUMNS(a) APPLY file',
  'arrayMap(sleep, [1])',
  "remote('x', system.one)",
  'INSERT INTO t VALUES (1)',
  'DROP TABLE t',
  'CREATE TABLE t (a Int8) ENGINE = Memory',
  'ALTER TABLE t DELETE WHERE 1',
  'SYSTEM RELOAD CONFIG',
  'KILL QUERY WHERE 1',
  'SET a = 1',
  'RENAME TABLE a TO b',
  'TRUNCATE TABLE t',
  'OPTIMIZE TABLE t',
  'sleep(3)',
  'GRANT ALL ON *.* TO u',
]

const statement = fc
  .tuple(
    fc.constantFrom('SELECT 1', 'SELECT', 'WITH 1 AS a', 'EXPLAIN', 'DESCRIBE', 'SELECT * FROM'),
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...words) },
        { weight: 3, arbitrary: fc.constantFrom(...borders) },
        { weight: 2, arbitrary: fc.constantFrom(...payloads) },
      ),
      { maxLength: 7 },
    ),
    fc.constantFrom(' ', '', '\n'),
  )
  .map(([start, pieces, glue]) => [start, ...pieces].join(glue === '' ? ' ' : glue))

/** Parts of tokens, with text that can change where the next token begins. */
const tokenPieces =
  "1 9 0x 0b1 _ e e- 1e a x b'01' $ $1 .. .5 - / * = < > { } [ ] : | @ ? ^ % \t \r \u0085 \u2212 \ufeff é 😀".split(' ')
const tokensRunTogether = fc
  .array(fc.constantFrom(...borders, ...tokenPieces, ' '), { minLength: 1, maxLength: 8 })
  .map((pieces) => `SELECT ${pieces.join('')}`)

/** Returns the byte offsets of the tokens of ClickHouse; undefined if its lexer fails. */
const startsOf = (sql: string, session: Session): number[] | undefined => {
  const tokens =
    "arrayFilter(t -> t.type NOT IN ('Whitespace', 'Comment', 'EndOfStream'), tokenizeQuery(unhex({hex:String})))"
  const columns = `arrayExists(t -> t.type LIKE 'Error%', ${tokens}), arrayStringConcat(arrayMap(t -> t.begin, ${tokens}), ',')`
  const [isUnread, starts = ''] = session
    .queryBind(`SELECT ${columns}`, { hex: Buffer.from(sql).toString('hex') }, 'TSVRaw')
    .trim()
    .split('\t')
  return isUnread === '0' ? starts.split(',').map(Number) : undefined
}

const isLexed = (sql: string): boolean => {
  try {
    lex(sql)
    return true
  } catch (error) {
    if (error instanceof Rejection) return false
    throw error
  }
}

const isAccepted = (sql: string): boolean => {
  try {
    checkReadOnly(sql)
    return true
  } catch (error) {
    if (error instanceof Rejection) return false
    throw error
  }
}

/** Returns the syntax tree of ClickHouse; undefined unless the text is a single statement. */
const syntaxTree = (sql: string, session: Session): string | undefined => {
  const single = session.queryBind('SELECT formatQuerySingleLineOrNull({sql:String})', { sql }, 'TSVRaw').trim()
  if (single === String.raw`\N`) return undefined
  try {
    return session.query(`EXPLAIN AST ${single}`, 'TSVRaw')
  } catch {
    return undefined
  }
}

const isHarmful = (tree: string): boolean =>
  /\b(?:Insert|Drop|Create|Alter|Rename|Delete|Update|Optimize|Kill|Set|Grant|Attach|Undrop|Backup|ParallelWith|Truncate|Use|ExecuteAs)Query\b|SYSTEM query|ASTTransactionControl|^\s*Set$/m.test(
    tree,
  ) ||
  /TableExpression[^\n]*\n\s*Function somethingNew/.test(tree) ||
  [...tree.matchAll(/Function (\w+)/g)].some(([, name]) => isForbiddenFunction((name ?? '').toLowerCase()))

describe('the guard, compared with ClickHouse', () => {
  let session: Session
  beforeAll(() => {
    session = new Session()
    session.query('CREATE DATABASE IF NOT EXISTS guard')
  })
  afterAll(() => session.cleanup())

  it('rejects every statement that ClickHouse parses as a write or as a forbidden function', { tags: ['long'] }, () => {
    let harmful = 0
    fc.assert(
      fc.property(statement, (sql) => {
        const tree = syntaxTree(sql, session)
        if (tree === undefined || !isHarmful(tree)) return
        harmful++
        expect(isAccepted(sql), sql).toBe(false)
      }),
      { numRuns: 4_000 },
    )
    expect(harmful).toBeGreaterThan(20)
  })

  it('begins every token where ClickHouse does, or rejects the statement', { tags: ['long'] }, () => {
    let compared = 0
    for (const sql of fc.sample(tokensRunTogether, 1_500)) {
      const starts = startsOf(sql, session)
      if (starts === undefined || !isLexed(sql)) continue
      compared++
      const ours = new Set(lex(sql).map(({ position }) => Buffer.byteLength(sql.slice(0, position))))
      expect(
        starts.filter((start) => !ours.has(start)),
        sql,
      ).toEqual([])
    }
    expect(compared).toBeGreaterThan(200)
  })

  it('rejects every table function that is not on the allow list, in any position', () => {
    const names = session.query('SELECT name FROM system.table_functions', 'TSVRaw').trim().split('\n')
    expect(names.length).toBeGreaterThan(80)
    const unknown = names.map((name) => name.toLowerCase()).filter((name) => !allowedTableFunctions.has(name))
    expect(unknown.filter((name) => !isForbiddenFunction(name))).toEqual([])
  })

  it('allows no table function after IN as an ordinary function', () => {
    const known = (table: string) => session.query(`SELECT lower(name) FROM system.${table}`, 'TSVRaw').split('\n')
    const [functions, tableFunctions] = [new Set(known('functions')), new Set(known('table_functions'))]
    expect([...inOperandFunctions].filter((name) => tableFunctions.has(name))).toEqual([])
    expect([...inOperandFunctions].filter((name) => !functions.has(name))).toEqual([])
  })

  it.each([
    '1 IN numbers(3)',
    '1 IN (numbers(3))',
    'in(1, numbers(3))',
    'number GLOBAL NOT IN numbers(3)',
    '1 = ANY (numbers(3))',
    '1 IN n',
  ])('ignores table functions after IN where ClickHouse has none: %s', (expression) => {
    for (const analyzer of [0, 1]) {
      const sql = `WITH numbers(3) AS n SELECT ${expression} FROM numbers(2) SETTINGS allow_experimental_analyzer = ${analyzer}`
      expect(() => session.query(sql)).toThrow(/UNKNOWN_FUNCTION|UNKNOWN_TABLE/)
    }
  })

  it('rejects every text with a hidden second statement that ClickHouse would run', () => {
    let ran = 0
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...borders, 'x', ' ', 'SELECT'), { maxLength: 5 }),
        fc.constantFrom('', "'", '"', '*/', '$$'),
        (pieces, end) => {
          const sql = `SELECT ${pieces.join('')} 1; DROP TABLE guard.victim -- ${end}`
          session.query('CREATE TABLE IF NOT EXISTS guard.victim (a Int8) ENGINE = Memory')
          runQuietly(session, sql)
          if (session.query('EXISTS TABLE guard.victim', 'TSVRaw').trim() === '1') return
          ran++
          expect(isAccepted(sql), sql).toBe(false)
        },
      ),
      { numRuns: 600 },
    )
    expect(ran).toBeGreaterThan(20)
  })
})

/** Runs a statement and ignores its error, because most of these texts are not SQL. */
const runQuietly = (session: Session, sql: string): void => {
  try {
    session.query(sql)
  } catch {
    // The test only checks whether the table still exists.
  }
}
