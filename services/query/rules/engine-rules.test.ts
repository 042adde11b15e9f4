import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RuleReading, ruleMethods } from '#proto/rules.ts'
import { fetchText, curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createRuleScope } from '../definitions/check.ts'
import { expandMacros } from '../definitions/macros.ts'
import { evaluateMeasurements } from '../testing/evaluate-measurements.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'

import { ruleCases, counterRules } from '../testing/rule-cases.ts'
import { ruleLogCases } from '../testing/rule-log-cases.ts'

const startLimitMs = 120_000

let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  await run('CREATE DATABASE shop')
  await run('SYSTEM FLUSH LOGS')
  parts = await openTestService({
    COLUMNDB_HOST: Array(4).fill(sandbox.url).join(','),
    COLUMNDB_USER: 'default,reports,analyst,default',
    COLUMNDB_PASSWORD: ',reports,analyst,wrong',
    COLUMNDB_NAME: 'sandbox,limited,readonly,refused',
  })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const run = (sql: string): Promise<string> => fetchText(sandbox.url, sql)

const fail = async (code: number, sql: string, as?: [user: string, password: string]): Promise<void> => {
  const headers = as && { 'X-ClickHouse-User': as[0], 'X-ClickHouse-Key': as[1] }
  expect((await curl(sandbox.url, sql, { headers })).text).toContain(`Code: ${code}.`)
}

const times = async (count: number, work: () => Promise<unknown>): Promise<void> => {
  for (let time = 0; time < count; time++) await work()
}

const evaluate = async (hostKey: string, rules: string[], metrics: string[] = []) =>
  ruleMethods.evaluateRules.output.parse(await parts.handlers.evaluateRules({ hostKey, rules, metrics }, createCall()))

const readingOf = async (rule: string): Promise<RuleReading> => {
  const [reading] = (await evaluate('sandbox', [rule])).readings
  if (!reading) throw new Error(`${rule} was not measured`)
  return reading
}

interface Provoked {
  rule: string
  severity: 'warning' | 'critical'
  prepare?: () => Promise<unknown>
  provoke: () => Promise<unknown>
  /** Ends the condition that `provoke` caused. Absent for counters, which are ok as soon as they no longer grow. */
  relieve?: () => Promise<unknown>
  offender?: string
}

const emptyLog = async (log: string): Promise<void> => {
  await run(`SYSTEM FLUSH LOGS ${log}`)
  await run(`TRUNCATE TABLE system.${log}`)
}
const flushing = (work: () => Promise<unknown>) => async () => {
  await work()
  await run('SYSTEM FLUSH LOGS')
}
const fullOf = (settings: string) => async () => {
  await run(`CREATE OR REPLACE TABLE shop.full (id UInt8) ENGINE = MergeTree ORDER BY id SETTINGS ${settings}`)
  await run('SYSTEM STOP MERGES shop.full')
}
const insertFull = () => run('INSERT INTO shop.full VALUES (1)')
const detached = async (): Promise<string> => {
  const path = await run(
    "SELECT data_paths[1] FROM system.tables WHERE database = 'shop' AND name = 'broken' FORMAT TSVRaw",
  )
  return join(path, 'detached', 'broken_all_9_9_0')
}

const provoked: readonly Provoked[] = [
  {
    rule: 'memory-limit-errors',
    severity: 'warning',
    provoke: () =>
      times(5, () => fail(241, 'SELECT groupArray(number) FROM numbers(1000000) SETTINGS max_memory_usage = 1000000')),
  },
  {
    rule: 'login-failures',
    severity: 'warning',
    provoke: () => times(4, () => fail(516, 'SELECT 1', ['reports', 'x'])),
  },
  {
    rule: 'access-denied',
    severity: 'warning',
    provoke: () => times(4, () => fail(497, 'DROP DATABASE shop', ['reports', 'reports'])),
  },
  {
    rule: 'query-timeout',
    severity: 'warning',
    offender:
      'default: SELECT sum(sleepEachRow(?)) FROM numbers(?) SETTINGS max_block_size = ?, max_execution_time = ?',
    provoke: flushing(() =>
      fail(
        159,
        'SELECT sum(sleepEachRow(0.05)) FROM numbers(50) SETTINGS max_block_size = 1, max_execution_time = 0.2',
      ),
    ),
    relieve: () => emptyLog('query_log'),
  },
  {
    rule: 'parts-pressure',
    severity: 'critical',
    offender: 'shop.full all',
    prepare: fullOf('parts_to_delay_insert = 3, max_delay_to_insert = 1'),
    provoke: () => times(3, insertFull),
    relieve: () => run('DROP TABLE shop.full SYNC'),
  },
  {
    rule: 'delayed-inserts',
    severity: 'warning',
    prepare: fullOf('parts_to_delay_insert = 1, max_delay_to_insert = 1, min_delay_to_insert_ms = 1'),
    provoke: () => times(2, insertFull),
  },
  {
    rule: 'rejected-inserts',
    severity: 'critical',
    prepare: fullOf('parts_to_throw_insert = 1'),
    provoke: async () => {
      await insertFull()
      await fail(252, 'INSERT INTO shop.full VALUES (1)')
    },
  },
  {
    rule: 'ttl-partition-health',
    severity: 'warning',
    offender: 'shop.kept',
    prepare: () =>
      run('CREATE TABLE shop.kept (day Date) ENGINE = MergeTree PARTITION BY toYYYYMMDD(day) ORDER BY day'),
    provoke: () => run("INSERT INTO shop.kept SELECT toDate('2024-01-01') + number FROM numbers(100)"),
    relieve: () =>
      run('ALTER TABLE shop.kept MODIFY TTL day + INTERVAL 90 YEAR SETTINGS materialize_ttl_after_modify = 0'),
  },
  {
    rule: 'broken-detached-parts',
    severity: 'warning',
    offender: 'shop.broken',
    prepare: () => run('CREATE TABLE shop.broken (id UInt8) ENGINE = MergeTree ORDER BY id'),
    provoke: async () => mkdir(await detached(), { recursive: true }),
    relieve: async () => rm(await detached(), { recursive: true }),
  },
  {
    rule: 'dictionary-failed',
    severity: 'warning',
    offender: 'shop.names',
    prepare: () =>
      run(`CREATE DICTIONARY shop.names (id UInt64, name String) PRIMARY KEY id
        SOURCE(CLICKHOUSE(QUERY 'SELECT 1 AS id, throwIf(1) AS name')) LAYOUT(FLAT()) LIFETIME(0)`),
    provoke: () => curl(sandbox.url, 'SYSTEM RELOAD DICTIONARY shop.names'),
    relieve: () => run('DROP DICTIONARY shop.names'),
  },
  {
    rule: 'materialized-view-errors',
    severity: 'warning',
    offender: 'shop.view',
    prepare: async () => {
      await run('CREATE TABLE shop.source (id UInt8) ENGINE = MergeTree ORDER BY id')
      await run('CREATE MATERIALIZED VIEW shop.view ENGINE = Memory AS SELECT throwIf(id = 7) AS id FROM shop.source')
    },
    provoke: flushing(() => fail(395, 'INSERT INTO shop.source SETTINGS log_query_views = 1 VALUES (7)')),
    relieve: () => emptyLog('query_views_log'),
  },
  {
    rule: 'buffer-flush-errors',
    severity: 'warning',
    prepare: async () => {
      await run('CREATE TABLE shop.behind (id UInt8, CONSTRAINT few CHECK id < 7) ENGINE = MergeTree ORDER BY id')
      await run(
        "CREATE TABLE shop.buffer (id UInt8) ENGINE = Buffer('shop', 'behind', 1, 100, 100, 1000, 1000, 100000, 100000)",
      )
    },
    provoke: async () => {
      await run('INSERT INTO shop.buffer VALUES (9)')
      await curl(sandbox.url, 'OPTIMIZE TABLE shop.buffer')
    },
    relieve: () => run('ALTER TABLE shop.behind DROP CONSTRAINT few'),
  },
]

describe.each(provoked)('the rule $rule', ({ rule: name, severity, prepare, provoke, relieve, offender }) => {
  it(`is ${severity} when provoked and ok after relief`, async () => {
    const rule = parts.definitions.rule(name)
    await prepare?.()
    const before = await readingOf(name)
    expect(evaluateMeasurements(rule, before, before).status).toBe('ok')
    await provoke()
    const troubled = await readingOf(name)
    expect(evaluateMeasurements(rule, before, troubled).status).toBe(severity)
    if (offender !== undefined) expect(troubled.offenders).toContain(offender)
    await relieve?.()
    const relieved = await readingOf(name)
    expect(evaluateMeasurements(rule, rule.measure === 'gauge' ? relieved : troubled, relieved).status).toBe('ok')
  })
})

it('tests every rule with a statement here or with synthetic rows', () => {
  const tried = new Set([...provoked, ...ruleCases, ...ruleLogCases, ...counterRules].map(({ rule }) => rule))
  const untried = parts.definitions.rules.filter(
    ({ name, sql, example }) => sql !== undefined && example === undefined && !tried.has(name),
  )
  expect(untried.map(({ name }) => name)).toEqual([])
})

it('names only events, errors and metrics that the engine has', async () => {
  const known = await run(`SELECT groupArray(name) FROM
    (SELECT event AS name FROM system.events UNION ALL SELECT name FROM system.errors UNION ALL SELECT metric FROM system.metrics)
    SETTINGS system_events_show_zero_values = 1 FORMAT JSONCompactColumns`)
  const has = new Set(z.tuple([z.tuple([z.array(z.string())])]).parse(JSON.parse(known))[0][0])
  const named = parts.definitions.rules.flatMap(({ sql }) => {
    const found = [...String(sql).matchAll(/\b(?:event|name|metric) (?:=|IN) (\('[^)]*'\)|'\w+')/g)]
    return /FROM system\.(?:events|errors|metrics)\b/.test(String(sql)) ? found.map(([, each = '']) => each) : []
  })
  const wanted = named.flatMap((each) => [...each.matchAll(/\w+/g)].map(([name]) => name))
  expect(wanted.length).toBeGreaterThan(40)
  expect(wanted.filter((name) => !has.has(name) && !name.startsWith('max_'))).toEqual([])
})

describe('a host', () => {
  const everything = async () => {
    const { rules, metrics } = await parts.handlers.rules({}, createCall())
    const single = rules.filter(({ allOf }) => allOf.length === 0)
    return [single.map(({ id }) => id), metrics.map(({ id }) => id)] as const
  }
  /** Rules without a value on a host without Keeper, TLS and earlier sweeps. */
  const unknown = ['ddl-queue-stuck', 'disk-days-to-full', 'keeper-node', 'keeper-session-count', 'keeper-unreachable']

  it.each(['sandbox', 'readonly'])('measures all rules within twelve statements: %s', async (hostKey) => {
    // Rates need two samples.
    const isSampled = "SELECT sum(value) > 0 FROM system.asynchronous_metrics WHERE metric = 'OSIdleTime' FORMAT TSVRaw"
    await expect.poll(() => run(isSampled), { timeout: 30_000 }).toMatch(/^1\s*$/)
    const [rules, metrics] = await everything()
    const evaluation = await evaluate(hostKey, [...rules], [...metrics])
    expect(evaluation.statements).toBeLessThanOrEqual(12)
    expect(evaluation.readings.map(({ id }) => id)).toEqual(rules)
    expect(evaluation.metrics.map(({ id }) => id)).toEqual(metrics)
    const missing = [...evaluation.readings, ...evaluation.metrics].filter(({ value }) => value === null)
    expect(missing.map(({ id }) => id).toSorted()).toEqual([...unknown, 'tls-expiry'])
    expect(missing.filter(({ reason }) => reason === null)).toEqual([])
    expect(evaluation).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+/), uptimeSeconds: expect.any(Number) })
  })

  it('that hides its tables gives a reason for each rule in few statements', async () => {
    const [rules] = await everything()
    const evaluation = await evaluate('limited', [...rules])
    expect(evaluation.statements).toBeLessThanOrEqual(2)
    const disks = evaluation.readings.find(({ id }) => id === 'disk-usage')
    expect(disks?.reason).toBe('host limited has no system.disks, or its user may not see it')
    const known = evaluation.readings.filter(({ value }) => value !== null)
    expect(known.map(({ id, value }) => [id, value])).toEqual([
      ['history-behind', 0],
      ['host-unreachable', 0],
      ['restarted', 0],
      ['settings-changed', 0],
      ['version-changed', 0],
      ['auth-or-grant-denied', 10],
      ['insufficient-grants', 3],
    ])
  })

  it('that rejects the password is reachable, without other values', async () => {
    const evaluation = await evaluate('refused', [
      'host-unreachable',
      'auth-or-grant-denied',
      'disk-usage',
      'restarted',
    ])
    expect(evaluation.readings.map(({ id, value }) => [id, value])).toEqual([
      ['host-unreachable', 0],
      ['auth-or-grant-denied', 1],
      ['disk-usage', null],
      ['restarted', null],
    ])
    expect(evaluation.readings.at(-1)?.reason).toBe('host refused rejected the configured user or password')
    expect(evaluation.readings[1]?.offenders).toEqual(['host refused rejected the configured user or password'])
    expect(evaluation).toMatchObject({ version: null, uptimeSeconds: null, statements: 0 })
  })

  it('returns diagnostic rows, and suggests similar rules for an unknown one', async () => {
    await run('CREATE TABLE shop.explained (id UInt8) ENGINE = MergeTree ORDER BY id')
    await run('INSERT INTO shop.explained VALUES (1)')
    const diagnosis = await parts.handlers.diagnoseRule({ hostKey: 'sandbox', rule: 'parts-pressure' }, createCall())
    expect(diagnosis.unavailable).toBeNull()
    expect(diagnosis.columns.slice(0, 3)).toEqual(['table', 'partition', 'parts'])
    expect(diagnosis.rows.map(([table]) => table)).toContain('shop.explained')
    await expect(
      parts.handlers.diagnoseRule({ hostKey: 'sandbox', rule: 'parts-presure' }, createCall()),
    ).rejects.toMatchObject({ code: 'not-found', details: { nearest: expect.arrayContaining(['parts-pressure']) } })
  })

  it.each([
    [false, 'SELECT ? AS n, who FROM t'],
    [true, 'SELECT 7 AS n, who FROM t'],
  ])('returns a query on one line, with values only where allowed: %s', async (withValues, expected) => {
    const sql = expandMacros('SELECT $statement({said:String})', createRuleScope({}, undefined, withValues))
    expect(await fetchText(sandbox.url, sql, { param_said: 'SELECT 7 AS n,   who FROM t' })).toBe(expected)
  })

  it.each([
    ['SELECT count() FROM a WHERE id = 1', 'SELECT count() FROM a WHERE id = ?'],
    [
      `SELECT ${'one, two, three, '.repeat(10)} four FROM shop.orders WHERE id = 1`,
      'SELECT … FROM shop.orders WHERE id = ?',
    ],
  ])('returns the part of a long query that distinguishes it: %s', async (said, expected) => {
    const sql = expandMacros('SELECT $statement({said:String})', createRuleScope({}))
    expect(await fetchText(sandbox.url, sql, { param_said: said })).toBe(expected)
  })

  it('returns no query texts or values of users in diagnostics', async () => {
    const said = "Cannot parse string 'alice' as UInt8: while executing 'FUNCTION f(alice)' in scope SELECT 1"
    const sql = expandMacros('SELECT $words({said:String})', createRuleScope({}))
    expect(await fetchText(sandbox.url, sql, { param_said: said })).toBe('Cannot parse string ? as UInt8')
  })
})

describe('statements of SQL rules', () => {
  const measure = async (hostKey: string, ...sql: string[]) => {
    const statements = sql.map((text, index) => ({ id: `sql:${index}`, sql: text }))
    const { readings } = await parts.handlers.measureStatements({ hostKey, statements }, createCall())
    return ruleMethods.measureStatements.output
      .parse({ readings })
      .readings.map(({ value, reason, offenders }) =>
        value === null ? reason : offenders.length > 0 ? [value, ...offenders] : value,
      )
  }

  it.each([
    ['a number', 'SELECT 7', 7],
    ['a large integer', 'SELECT toUInt64(12345678901)', 12_345_678_901],
    ['a decimal', 'WITH toDecimal64(2.5, 2) AS d SELECT d FORMAT JSON', 2.5],
    ['a number in text', "SELECT '12.5'", 12.5],
    ['a boolean', 'SELECT 1 = 1', 1],
    ['names', "SELECT 10 - number, concat('t', toString(number)) FROM numbers(9)", [10, 't0', 't1', 't2', 't3', 't4']],
    ['an array of names', "SELECT 3, ['a', 'b']", [3, 'a', 'b']],
    ['no rows', 'SELECT 1 WHERE 0', 'the statement returned no rows; return one row with a number'],
    ['a text', "SELECT 'many'", expect.stringContaining('not a finite number')],
    ['NULL', 'SELECT NULL', expect.stringContaining('not a finite number')],
    ['an infinite number', 'SELECT 1 / 0', expect.stringContaining('not a finite number')],
    ['an unknown table', 'SELECT count() FROM shop.nowhere', expect.stringMatching(/nowhere.* \(60 UNKNOWN_TABLE\)$/)],
    ['a write', 'INSERT INTO shop.a VALUES (1)', expect.stringContaining('must begin with')],
    ['a file', "SELECT count() FROM file('/etc/passwd', 'LineAsString')", expect.stringContaining('query: ')],
    ['no SELECT', 'DESCRIBE system.one', 'query: the statement of a rule must begin with SELECT or WITH'],
  ])('return %s', async (_what, sql, expected) => {
    expect(await measure('sandbox', sql)).toEqual([expected])
  })

  it('do not affect each other, and are run for users that may not set limits', async () => {
    expect(await measure('readonly', 'SELECT 1', 'SELECT nothing', 'SELECT 3', 'SELECT 4', 'SELECT 5')).toEqual([
      1,
      expect.stringContaining('nothing'),
      3,
      4,
      5,
    ])
  })

  it('are checked without a host', async () => {
    const check = (sql: string) => parts.handlers.checkRuleStatement({ sql }, createCall())
    expect(await check('SELECT 1 FORMAT JSON')).toEqual({})
    await expect(check('SELECT 1; SELECT 2')).rejects.toMatchObject({
      code: 'invalid',
      details: { parameter: 'query', reason: 'several-statements' },
    })
  })
})
