import { describe, expect, it } from 'vitest'
import { removeSecretLiterals, removeLiterals } from './sessions.ts'

describe('a statement without its values', () => {
  it.each([
    ["SELECT * FROM people WHERE mail = 'ada@example.com'", 'SELECT * FROM people WHERE mail = ?'],
    ["SELECT 'it''s', 'a\\', n FROM t2", 'SELECT ?, ?, n FROM t2'],
    ["SELECT E'it\\'s secret', e'\\\\', 1", 'SELECT ?, ?, ?'],
    ["SELECT $$it's$$, $tag$ $$ 'x' $tag$, $1", 'SELECT ?, ?, $1'],
    ["SELECT U&'d\\0061t', b'01', X'ff', N'x', date'2026-01-01'", 'SELECT ?, ?, ?, ?, date?'],
    ['SELECT 1, 1.5, .5, 1e-3, 0xff, 1_000, x1, a$1, t.c[2]', 'SELECT ?, ?, ?, ?, ?, ?, x1, a$1, t.c[?]'],
    ['SELECT "odd ""name" -- for ada\n/* one /* two */ it\'s */ FROM t', 'SELECT "odd ""name" FROM t'],
    ["SELECT /* 'open */ 'closed' /* never ended", 'SELECT ?'],
    ["SELECT 'cut of", 'SELECT ?'],
    ["SELECT E'cut\\", 'SELECT ?'],
    ['SELECT $body$ cut', 'SELECT ?'],
    ["SELECT 'é', größe FROM straße\nWHERE\tn = 5", 'SELECT ?, größe FROM straße WHERE n = ?'],
    ['', ''],
  ])('%j is %j', (text, shown) => {
    expect(removeLiterals(text)).toBe(shown)
  })

  it('terminates when every character could start a literal', () => {
    const odd = ["'", "E'\\", '$a$', '/*', '"', '$', '1e', '--'].map((sign) => sign.repeat(20_000))
    for (const text of odd) expect(removeLiterals(text).length).toBeLessThanOrEqual(text.length)
  })
})

describe('a statement as users see it', () => {
  it.each([
    "ALTER ROLE ada PASSWORD 'correct horse'",
    "CREATE SUBSCRIPTION s CONNECTION 'postgres://ada:correct@horse/db' PUBLICATION p",
    "CREATE USER MAPPING FOR ada SERVER s OPTIONS (user 'ada', password 'correct horse')",
    "SELECT * FROM dblink('host=h passwd=correct', 'SELECT 1')",
    "SELECT pgp_sym_encrypt('correct', 'horse')",
    "SET app.api_key = 'correct horse'",
  ])('hides the values of %s', (text) => {
    expect(removeSecretLiterals(text)).not.toMatch(/correct|horse/)
  })

  it('is unchanged otherwise', () => {
    const text = "SELECT *  FROM orders -- nightly\nWHERE id = 7 AND name = 'x'"
    expect(removeSecretLiterals(text)).toBe(text)
  })
})
