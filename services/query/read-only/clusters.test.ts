import { Session } from 'chdb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Rejection } from './rejection.ts'
import { checkReadOnly } from './read-only.ts'

const reasonFor = (sql: string, clusterTables = false): string => {
  try {
    checkReadOnly(sql, { clusterTables })
    return 'accepted'
  } catch (error) {
    if (error instanceof Rejection) return error.reason
    throw error
  }
}

describe('a statement that reads a cluster', () => {
  it.each([
    "SELECT * FROM cluster('c')",
    'SELECT * FROM cluster(c, system.one)',
    "SELECT * FROM clusterAllReplicas('c', 'system', 'one')",
    "SELECT * FROM clusterAllReplicas('c', 'system.one')",
    'SELECT * FROM `cluster`(\'c\', "system".`one`)',
    "SELECT * FROM cluster/* x */('c', system /* y */ . one, rand())",
    'SELECT * FROM cluster(c, view(SELECT * FROM system.parts WHERE name IN (SELECT name FROM system.tables)))',
    "SELECT * FROM cluster(c, merge('system', '^query_log'), rand())",
    'WITH a AS (SELECT * FROM system.parts) SELECT * FROM cluster(c, system.one) JOIN a ON 1 WHERE dummy IN a',
    'SELECT * FROM cluster(c, system.one) WHERE dummy IN (1, 2) AND dummy NOT IN (NULL) AND x IN (a, b)',
    'SELECT * FROM cluster(c, system.one) AS x JOIN numbers(3) AS n ON 1, system.parts',
    "SELECT * FROM cluster('c', numbers(3))",
    "WITH a AS (SELECT 1) SELECT * FROM (SELECT * FROM a), cluster('c', view(SELECT 1)) WHERE 1 IN (a AS b)",
    "SELECT dummy IN (1, a AS b), 1 AS in FROM cluster('c', system.one)",
  ])('can read system tables: %s', (sql) => {
    expect(reasonFor(sql)).toBe('accepted')
  })

  it.each([
    "SELECT * FROM cluster('c', secret.data)",
    "SELECT * FROM clusterAllReplicas('c', 'secret', 'data')",
    "SELECT * FROM cluster('c', 'secret.data')",
    "SELECT * FROM cluster('c', `secret.data`)",
    "SELECT * FROM cluster('c', data)",
    "SELECT * FROM cluster('c', currentDatabase(), data)",
    "SELECT * FROM cluster('c', 'sys' || 'tem', data)",
    "SELECT * FROM cluster('c', SYSTEM.one)",
    "SELECT * FROM cluster('c', view(SELECT * FROM secret.data))",
    "SELECT * FROM cluster('c', view(SELECT * FROM system.one WHERE 1 IN (SELECT 1 FROM secret.data)))",
    "SELECT * FROM cluster('c', view(SELECT * FROM system.one WHERE 1 IN secret.data))",
    "SELECT * FROM cluster('c', merge('secret', '.*'))",
    "SELECT * FROM cluster('c', merge(REGEXP('.*'), '.*'))",
    "SELECT * FROM cluster('c', merge('.*'))",
    "SELECT * FROM cluster('c', cluster('d', secret.data))",
    "SELECT * FROM cluster('c', dictionary('d'))",
    "SELECT * FROM cluster('c', mergeTreeIndex(secret, data))",
    "SELECT * FROM cluster('c', system.one) WHERE dummy IN (SELECT x FROM secret.data)",
    "SELECT * FROM cluster('c', system.one) WHERE dummy IN secret.data",
    "SELECT * FROM cluster('c', system.one) WHERE dummy IN (data)",
    "SELECT * FROM cluster('c', system.one) WHERE in(dummy, secret.data)",
    "SELECT * FROM cluster('c', system.one) WHERE `in`(dummy, data)",
    "SELECT * FROM cluster('c', system.one) JOIN secret.data USING x",
    "SELECT * FROM cluster('c', system.one), data",
    "SELECT dictGet('d', 'x', 1) FROM cluster('c', system.one)",
    "SELECT joinGet('secret.j', 'x', 1) FROM cluster('c', system.one)",
    "SELECT * FROM cluster('c', {db:Identifier}.data)",
    "SELECT * FROM cluster('c', system.one) JOIN {t:Identifier} ON 1",
    "WITH data AS (SELECT * FROM data) SELECT * FROM cluster('c', system.one) JOIN data ON 1",
    "SELECT * FROM cluster('c', system.one) WHERE dummy IN (SELECT x FROM data) AND 1 IN (WITH data AS (SELECT 1) SELECT * FROM data)",
    "SELECT * FROM (SELECT * FROM cluster('c', secret.data))",
    "SELECT 1 IN cluster('c', secret.data)",
    "SELECT 1 IN (SELECT * FROM cluster('c', secret.data))",
    `WITH x AS (SELECT * FROM "clusterAllReplicas"('c', secret.data)) SELECT * FROM x`,
    "DESCRIBE cluster('c', secret.data)",
    "SELECT * FROM cluster('c', system.one) ARRAY JOIN [1] AS a JOIN data ON 1",
    "SELECT 42 IN (secret.t AS y) FROM cluster('c', system.one)",
    "SELECT 42 IN (((t AS y))) FROM cluster('c', system.one)",
    'SELECT 42 GLOBAL NOT IN ("secret".`t` AS "y") FROM cluster(\'c\', system.one)',
    "SELECT INTERVAL as IN secret.t DAY FROM cluster('c', system.one)",
    "WITH t AS (SELECT 1) SELECT * FROM cluster('c', view(SELECT * FROM t))",
    "WITH t AS (SELECT 1) SELECT * FROM cluster('c', view(SELECT 1 FROM system.one WHERE 1 IN t))",
    "WITH t AS (SELECT 1) SELECT * FROM cluster('c', system.one), view(SELECT * FROM (SELECT * FROM t))",
    "WITH t AS (SELECT 1 AS x) SELECT * FROM cluster('c', viewIfPermitted(SELECT * FROM t ELSE null('x UInt8')))",
    "WITH t AS (SELECT 1), u AS (SELECT * FROM `VIEW`(SELECT * FROM t)) SELECT * FROM cluster('c', system.one), u",
    "WITH t AS (SELECT 1) SELECT * FROM cluster('c', system.one), (EXPLAIN SELECT (SELECT x FROM t))",
  ])('cannot read other tables: %s', (sql) => {
    expect(reasonFor(sql)).toMatch(/^(?:cluster|source)$/)
  })

  it('can read any table if the operator allows it', () => {
    expect(reasonFor("SELECT * FROM cluster('c', sales.orders)", true)).toBe('accepted')
    expect(reasonFor("SELECT * FROM cluster('c', remote('x', sales.orders))", true)).toBe('function')
  })
})

/** Spellings of tables that are not system tables. No column has such a name. */
const secrets = ['secret.data', 'data', '`secret`.data', '"secret" . /* t */ "data"', 'secret\n.`data`']
const clusters = ["cluster('c', ", 'clusterAllReplicas(c, ', "`cluster`('c',", '"clusterAllReplicas"/* c */(\'c\', ']
const systemTables = ['system.one', "'system', 'one'", '`system`."one"', 'numbers(3)', "merge('system', 'one')"]
const places: readonly ((table: string) => string)[] = [
  (table) => `SELECT * FROM ${table}`,
  (table) => `SELECT 1 FROM system.one AS o JOIN ${table} AS d ON 1`,
  (table) => `SELECT 1 FROM system.one, ${table}`,
  (table) => `SELECT 1 FROM system.one WHERE 1 IN ${table}`,
  (table) => `SELECT 1 FROM system.one WHERE 1 GLOBAL NOT IN (${table})`,
  (table) => `SELECT 1 FROM system.one WHERE in(1, ${table})`,
  (table) => `SELECT 1 IN (${table} AS y)`,
  (table) => `SELECT 1 GLOBAL IN (((${table} AS \`y\`)))`,
  (table) => `SELECT INTERVAL as IN ${table} DAY`,
  (table) => `SELECT 1 IN (SELECT 2 FROM ${table})`,
  (table) => `SELECT exists(SELECT 2 FROM ${table})`,
  (table) => `SELECT 1 FROM view(SELECT * FROM ${table})`,
  (table) => `SELECT 1 FROM (system.one AS a JOIN ${table} AS b ON 1)`,
  (table) => `SELECT 1 FROM (SELECT 2 UNION ALL SELECT * FROM ${table})`,
  (table) => `FROM ${table} SELECT 1`,
  (table) => `WITH c AS (SELECT * FROM ${table}) SELECT * FROM c`,
]
const glue = fc.constantFrom(' UNION ALL ', ' EXCEPT ')
const table = fc.oneof(
  fc.constantFrom(...secrets),
  fc.constantFrom('system.one', 'system.parts', 'numbers(2)'),
  fc
    .tuple(
      fc.constantFrom(...clusters),
      fc.constantFrom(...systemTables, ...secrets, "'secret', 'data'", "'secret.data'"),
    )
    .map(([open, inner]) => `${open}${inner})`),
  fc
    .tuple(fc.constantFrom(...clusters), fc.constantFrom(...places), fc.constantFrom(...secrets, ...systemTables))
    .map(([open, place, inner]) => `${open}view(${place(inner)}))`),
)
const select = fc.tuple(fc.constantFrom(...places), table).map(([place, inner]) => place(inner))
const statement = fc.oneof(
  select,
  fc.tuple(select, glue, select).map(([one, between, other]) => `${one}${between}${other}`),
  fc.tuple(fc.constantFrom(...places), select).map(([place, inner]) => place(`(${inner})`)),
  fc
    .tuple(fc.constantFrom('EXPLAIN ', 'EXPLAIN PIPELINE ', 'DESCRIBE '), select)
    .map(([start, inner]) => start + (start === 'DESCRIBE ' ? `(${inner})` : inner)),
)

const placesOfName: readonly ((table: string) => string)[] = [
  ...places,
  (table) => `SELECT * FROM viewIfPermitted(SELECT * FROM ${table} ELSE null('x UInt8'))`,
  (table) => `SELECT * FROM (EXPLAIN SELECT (SELECT x FROM ${table}))`,
  (table) => `SELECT * FROM cluster('c', view(SELECT * FROM ${table}))`,
  (table) => `SELECT (SELECT x FROM ${table})`,
  (table) => `SELECT arrayMap(y -> y IN ${table}, [1])`,
  (table) => `SELECT * FROM (WITH 1 AS data SELECT * FROM ${table})`,
]
/** Returns statements that define `data` by WITH, read a cluster and name `data` in any position. */
const withStatements = (outer: (table: string) => string, inner: (table: string) => string): string[] => {
  const [uses, cluster] = [outer(`(${inner('data')})`), "SELECT 1 FROM cluster('c', system.one)"]
  const define = 'WITH data AS (SELECT 1 AS x)'
  return [
    `${define} ${cluster} UNION ALL ${uses}`,
    `${define}, b AS (${uses}) SELECT 1 FROM cluster('c', system.one), b`,
    `${define} SELECT 1 FROM cluster('c', system.one), (${uses})`,
    `${define} SELECT 1 FROM cluster('c', view(${uses}))`,
    `${define} ${inner('data')} UNION ALL (${cluster})`,
  ]
}

describe('a cluster, compared with ClickHouse', () => {
  let session: Session
  beforeAll(() => {
    session = new Session()
  })
  afterAll(() => session.cleanup())

  /** Returns the syntax tree of ClickHouse; undefined if it cannot parse the statement. */
  const treeOf = (sql: string): string | undefined => {
    try {
      return session.query(`EXPLAIN AST ${sql}`, 'TSVRaw')
    } catch {
      return undefined
    }
  }

  it('is read only together with tables that ClickHouse reads as system tables', { tags: ['long'] }, () => {
    let [reaching, accepted] = [0, 0]
    fc.assert(
      fc.property(statement, (sql) => {
        const tree = treeOf(sql)
        if (tree === undefined || !/Function cluster/i.test(tree)) return
        const reachesOther = /(?:Identifier|Literal).*\b(?:secret|data)\b/.test(tree)
        if (reachesOther) reaching++
        if (reasonFor(sql) !== 'accepted') return
        accepted++
        expect(reachesOther, sql).toBe(false)
      }),
      { numRuns: 3_000 },
    )
    expect(reaching).toBeGreaterThan(200)
    expect(accepted).toBeGreaterThan(50)
  })

  it.each([1, 0])(
    'resolves a name to WITH only where ClickHouse reads no table of that name, with analyzer %i',
    // The test runs thousands of statements, which takes minutes on a busy machine.
    { tags: ['long'], timeout: 300_000 },
    (analyzer) => {
      session.query(`SET allow_experimental_analyzer = ${analyzer}`)
      session.query("CREATE OR REPLACE VIEW data AS SELECT throwIf(number >= 0, 'reached') AS x FROM numbers(1)")
      const statements = new Set(
        placesOfName.flatMap((outer) => placesOfName.flatMap((inner) => withStatements(outer, inner))),
      )
      let [reaching, accepted] = [0, 0]
      for (const sql of statements) {
        const reachesTable = isReached(sql)
        if (reachesTable) reaching++
        if (reasonFor(sql) !== 'accepted') continue
        accepted++
        expect(reachesTable, sql).toBe(false)
      }
      expect(accepted).toBeGreaterThan(500)
      expect(reaching).toBeGreaterThan(analyzer === 1 ? 200 : 0)
    },
  )

  /** Returns whether ClickHouse reads the table `data`. The local host replaces the cluster. */
  const isReached = (sql: string): boolean => {
    try {
      session.query(sql.replaceAll("cluster('c'", "remote('127.0.0.1'"))
      return false
    } catch (error) {
      return String(error).includes('reached')
    }
  }
})
