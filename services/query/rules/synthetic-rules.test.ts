import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quoteText } from '#shared/sql/statement-text.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { parseResponse } from '../clickhouse/response.ts'
import { type HostCapabilities, selectSqlBranch } from '../clickhouse/capabilities.ts'
import { createRuleScope } from '../definitions/check.ts'
import { openDefinitions } from '../definitions/definitions.ts'
import { expandMacros } from '../definitions/macros.ts'
import { evaluateMeasurements } from '../testing/evaluate-measurements.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { toMeasuredDefinitions } from './measured-definitions.ts'
import {
  type RuleCase,
  ruleCases as tableCases,
  counterRules,
  ownStatements,
  createRunningQueryRows,
  consoleStatementRow,
} from '../testing/rule-cases.ts'
import { ruleLogCases } from '../testing/rule-log-cases.ts'
import { joinStatements, parseMeasurements } from './plan.ts'
import type { Measurement } from './measurement.ts'

const { rules } = await openDefinitions(pino({ level: 'silent' }))
const examples = rules.flatMap(({ name, example }) => (example ? [{ rule: name, ...example }] : []))
const cases: readonly RuleCase[] = [...examples, ...tableCases, ...ruleLogCases]
const startLimitMs = 120_000
/** Tolerance for rules that measure the age of a row, which grows during the test. */
const seconds = 120

let sandbox: Sandbox
let parts: TestService
let engine: HostCapabilities

beforeAll(async () => {
  sandbox = await startSandbox()
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'sandbox' })
  engine = await parts.client.capabilities(parts.hosts.get('sandbox'), createCall())
  await fetchText(sandbox.url, 'SYSTEM FLUSH LOGS')
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

type Rows = Readonly<Record<string, readonly object[]>>

const structures = new Map<string, string>()
/** Returns the names and types of the columns of a system table, in the syntax of the `format` function. */
const structureOf = async (table: string): Promise<string> => {
  const known = structures.get(table)
  if (known !== undefined) return known
  const columns = `SELECT arrayStringConcat(groupArray(concat('\`', name, '\` ', type)), ', ') FROM system.columns
    WHERE database = 'system' AND table = '${table}' AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') FORMAT TSVRaw`
  const structure = await fetchText(sandbox.url, columns)
  structures.set(table, structure)
  return structure
}

/** Returns a table expression with these rows. Omitted cells get the default of their type. */
const createSyntheticTable = async (table: string, rows: readonly object[]): Promise<string> => {
  // Without rows, `format` reads one empty object, which `LIMIT 0` drops; an empty text would yield no columns.
  const lines = rows.map((row) => JSON.stringify(row)).join('\n') || '{}'
  const read = `format(JSONEachRow, ${quoteText(await structureOf(table))}, ${quoteText(lines)})`
  const date = table.endsWith('_log') ? ' REPLACE (toDate(event_time) AS event_date)' : ''
  return `(SELECT *${date} FROM ${read} LIMIT ${rows.length})`
}

/** Measures a rule or a metric with these rows instead of those of the engine. */
const measuredWith = async (name: string, rows: Rows, kind: 'rules' | 'metrics' = 'rules'): Promise<Measurement> => {
  const measurable = toMeasuredDefinitions(parts.definitions)[kind].get(name)?.measurable
  const branch = measurable && selectSqlBranch(measurable.sql, engine.version)
  if (!measurable || branch === undefined) throw new Error(`${name} has no statement for this engine`)
  let sql = expandMacros(branch, createRuleScope(measurable))
  for (const [table, lines] of Object.entries(rows)) {
    const synthetic = await createSyntheticTable(table, lines)
    sql = sql.replaceAll(new RegExp(String.raw`system\.${table}\b`, 'g'), () => synthetic)
  }
  const ready = { ...measurable, isSlow: false, sql }
  const host = parts.hosts.get('sandbox')
  const text = await fetchText(sandbox.url, joinStatements([ready]).sql, { default_format: 'JSONCompact' })
  const reading = parseMeasurements(host, [ready], parseResponse(host, text).rows).get(ready.key)
  if (!reading) throw new Error(`${name} was not measured`)
  return reading
}

describe.each(cases)('the rule $rule', ({ rule: name, trouble, measured, severity, relief }) => {
  it(`is ${severity} with synthetic rows and ok without them`, async () => {
    const rule = parts.definitions.rule(name)
    const none = Object.fromEntries(Object.keys(trouble).map((table) => [table, []]))
    const before = rule.measure === 'gauge' ? undefined : await measuredWith(name, none)
    const troubled = await measuredWith(name, trouble)
    const found = evaluateMeasurements(rule, before ?? troubled, troubled)
    expect(found.status).toBe(severity)
    if (rule.unit === 'seconds' && measured > seconds) {
      expect(found.value - measured).toBeGreaterThanOrEqual(0)
      expect(found.value - measured).toBeLessThan(seconds)
    } else expect(found.value).toBeCloseTo(measured, 6)
    const relieved = await measuredWith(name, relief)
    expect(evaluateMeasurements(rule, rule.measure === 'gauge' ? relieved : troubled, relieved).status).toBe('ok')
  })
})

it('excludes own statements from the running queries metric', async () => {
  const processes = [...createRunningQueryRows(2), ...ownStatements, consoleStatementRow]
  expect((await measuredWith('running-queries', { processes }, 'metrics')).value).toBe(3)
})

/** Returns the names of the events that the statement of a rule counts. */
const events = (name: string): string[] => {
  const { sql } = parts.definitions.rule(name)
  const text = typeof sql === 'string' ? sql : ''
  return [...text.matchAll(/'(\w+)'/g)].map((found) => found[1] ?? '')
}

describe('counters of the server', () => {
  it.each([...counterRules])(
    '$rule adds up what it is about, breaches when that grows, and is ok when it stays',
    async ({ rule: name, table, column }) => {
      const rule = parts.definitions.rule(name)
      const names = events(name)
      const rows = (value: number) => ({
        [table]: [...names.map((each) => ({ [column]: each, value })), { [column]: 'SomethingElse', value: 1_000 }],
      })
      const before = await measuredWith(name, rows(3))
      expect(before.value).toBe(3 * names.length)
      const grown = await measuredWith(name, rows(3 + 10_000))
      expect(evaluateMeasurements(rule, before, grown).status).toBe(
        rule.thresholds.critical === null ? 'warning' : 'critical',
      )
      expect(evaluateMeasurements(rule, grown, await measuredWith(name, rows(3 + 10_000))).status).toBe('ok')
    },
  )
})
