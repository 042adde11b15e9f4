import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { intervals } from '#proto/catalogue.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { startSeededHost } from '../../testing/seeded-hosts.ts'
import { curl } from '../../sandbox/curl.ts'
import type { Sandbox } from '../../sandbox/start.ts'
import { checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import {
  type HostCapabilities,
  type RotatedLogExpressions,
  compareVersions,
  selectSqlBranch,
} from '../clickhouse/capabilities.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { checkReadOnly } from '../read-only/read-only.ts'
import { createCall, openTestService, type TestService, createSilentTelemetry } from '../testing/test-service.ts'
import { buildDiagnosticStatement } from '../rules/handlers.ts'
import { joinStatements, parseMeasurements } from '../rules/plan.ts'
import { reportRuns, type StatementRuns } from '../testing/statement-runs.ts'
import { buildChartStatement } from './chart-statement.ts'
import { toSqlBranches, createRuleScope } from './check.ts'
import { openDefinitions } from './definitions.ts'
import { createEventsTableSql, defaultEventsTable } from './events.ts'
import type { LoadedMetric, LoadedRule } from './load.ts'
import { expandMacros } from './macros.ts'
import { buildTableStatement } from './table-statement.ts'
import { resolveChartWindow } from './window.ts'

/** Timeout for the start of the sandbox, which loads example data while other suites run. */
const startLimitMs = 180_000

const { charts, tables, rules, metrics } = await openDefinitions(createSilentTelemetry().log)
/** Branches that ran, and the reasons for skipped ones; printed at the end. */
const branches: StatementRuns['branches'] = []

let sandbox: Sandbox | undefined
let url: string
let parts: TestService
let engine: HostCapabilities

beforeAll(async () => {
  sandbox = process.env.TEST_CLICKHOUSE_URL ? undefined : await startSeededHost('one')
  url = sandbox?.url ?? process.env.TEST_CLICKHOUSE_URL ?? ''
  // A server creates its log tables on the first flush.
  if (!sandbox) await curl(url, 'SYSTEM FLUSH LOGS')
  await curl(url, createEventsTableSql(defaultEventsTable))
  parts = await openTestService({ COLUMNDB_HOST: url, COLUMNDB_NAME: 'sandbox' })
  engine = await parts.client.capabilities(parts.hosts.get('sandbox'), createCall())
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
  const place = sandbox ? 'the embedded engine' : 'a server'
  if (branches.length > 0) reportRuns({ where: `${place} ${engine.version}`, branches })
})

const run = (statement: Statement | undefined) => {
  if (!statement) throw new Error('the engine is older than every branch')
  const sql = replaceClusterReads(statement.sql)
  return parts.client.run(parts.hosts.get('sandbox'), { ...statement, sql, cache: undefined }, createCall())
}

/** Replaces `clusterAllReplicas` by the table itself, because the embedded engine has no cluster. */
const replaceClusterReads = (sql: string): string =>
  sandbox ? sql.replaceAll(/clusterAllReplicas\(\{cluster:String\}, (system\.\w+)\)/g, '$1') : sql

/** Runs a statement with the old analyzer, which servers before 24.3 use. */
const runWithOldAnalyzer = async (statement: Statement | undefined): Promise<void> => {
  const bound = Object.entries(statement?.parameters ?? {}).map(([name, value]) => [`param_${name}`, String(value)])
  const settings = { allow_experimental_analyzer: 0, default_format: 'Null', ...Object.fromEntries(bound) }
  const sql = replaceClusterReads(statement?.sql ?? '')
  expect(await curl(url, sql, { query: settings })).toMatchObject({ status: 200, text: '' })
}

/** Returns the version branches for servers before 24.3. */
const earlyBranches = ({ sql }: Pick<(typeof charts)[number], 'sql'>): string[] =>
  toSqlBranches(sql).flatMap((branch) =>
    branch.since === undefined || compareVersions(branch.since, '24.3') < 0 ? [branch.sql] : [],
  )

/** Tables that require Keeper, which the embedded engine lacks. */
const fromKeeper = new Set([
  'system.distributed_ddl_queue',
  'system.keeper_changelogs',
  'system.keeper_cluster',
  'system.keeper_snapshots',
  'system.zookeeper',
  'system.zookeeper_connection',
  'system.zookeeper_info',
  'system.zookeeper_watches',
])

type Definition = Pick<LoadedMetric, 'name' | 'requires' | 'sql'>

/**
 * Returns the missing requirement of a definition: a newer server, or tables. The embedded engine lacks only the tables
 * of Keeper; old servers lack others too.
 */
const findMissingRequirement = async ({ name, requires, sql }: Definition): Promise<string | undefined> => {
  if (selectSqlBranch(sql, engine.version) === undefined) {
    expect(sandbox, `${name} cannot run on the embedded engine`).toBeUndefined()
    return 'a newer server'
  }
  const missing = (await checkRequirements(parts.client, parts.hosts.get('sandbox'), { requires }, createCall()))
    ?.missingTables
  const lacking = missing ?? (await withoutKeeper(requires))
  if (lacking) expect(sandbox ? lacking.filter((table) => !fromKeeper.has(table)) : []).toEqual([])
  return lacking?.join(', ')
}

/** Returns the required tables that the host cannot read without Keeper; undefined if there are none. */
const withoutKeeper = async (requires: readonly string[]): Promise<string[] | undefined> => {
  const needed = requires.filter((table) => fromKeeper.has(table))
  if (needed.length === 0) return undefined
  const reading = run({ what: 'test/keeper', sql: `SELECT 1 FROM ${needed.join(', ')} LIMIT 1` })
  const failure = await reading.catch((error: unknown) => error)
  return findUnavailableReason(parts.client, parts.hosts.get('sandbox'), { requires: needed }, failure)?.missingTables
}

/** Returns true for a statement that the read-only guard accepts. Throws the rejection otherwise. */
const isReadOnly = (sql: string): boolean => {
  checkReadOnly(sql)
  return true
}

/** Creates a rotated table without the last column for each log, and returns the table expressions of the logs. */
const rotated = async (logs: readonly string[]): Promise<RotatedLogExpressions> => {
  const host = parts.hosts.get('sandbox')
  const { tables } = await parts.client.capabilities(host, createCall())
  for (const log of logs.filter((name) => tables.has(name) && !tables.has(`${name}_0`))) {
    const lacking = quoteName((await curl(url, lastColumn, { query: { param_log: log } })).text.trim())
    const earlier = `CREATE TABLE IF NOT EXISTS system.${log}_0 ENGINE = Memory AS SELECT * EXCEPT ${lacking} FROM system.${log} LIMIT 10`
    expect(await curl(url, earlier)).toMatchObject({ status: 200, text: '' })
    parts.client.forget(host)
  }
  return (await parts.client.capabilities(host, createCall())).logs
}

const lastColumn = `SELECT name FROM system.columns
  WHERE database = 'system' AND table = {log:String} AND default_kind != 'ALIAS' ORDER BY position DESC LIMIT 1`

/** Returns the logs that a definition reads. */
const logsOf = ({ sql }: Pick<(typeof charts)[number], 'sql'>): string[] =>
  toSqlBranches(sql).flatMap((branch) => [...branch.sql.matchAll(/\$log\((\w+)\)/g)].map((found) => found[1] ?? ''))

/** Runs every branch that this engine supports, and prints the reasons for the others. */
const eachBranch = async (
  kind: 'chart' | 'table page' | 'rule' | 'diagnostic' | 'metric',
  definition: Definition,
): Promise<string[]> => {
  const lacking = await findMissingRequirement(definition)
  return toSqlBranches(definition.sql).flatMap(({ since, sql }) => {
    const isNewer = since !== undefined && compareVersions(since, engine.version) > 0
    const wanting = isNewer ? `a server of ${since}` : lacking
    branches.push({ name: `the ${kind} ${definition.name}`, since, lacking: wanting })
    return wanting === undefined ? [sql] : []
  })
}

describe.each(charts)('the chart $name', { tags: ['long'] }, (chart) => {
  it('runs and has the columns that it declares', async () => {
    for (const sql of await eachBranch('chart', chart)) {
      const window = resolveChartWindow(chart, {}, Date.now())
      const given = { serverVersion: engine.version, logs: engine.logs, window, zone: undefined, parameters: {} }
      const answer = await run(buildChartStatement({ ...chart, sql }, given))
      const names = answer.columns.map((column) => column.name)
      expect(names.toSorted()).toEqual(chart.columns.map((column) => column.name).toSorted())
      const isNumber = new Map(
        answer.columns.map((column) => [column.name, /^(Nullable\()?(U?Int|Float|Decimal)/.test(column.type)]),
      )
      for (const { name, role } of chart.columns) {
        if (role === 'value' || role === 'time') expect([name, isNumber.get(name)]).toEqual([name, true])
      }
    }
  })

  if (chart.interval) {
    it('runs in every interval, in a zone and between two instants', { tags: ['long'] }, async () => {
      if (await findMissingRequirement(chart)) return
      for (const interval of intervals) {
        const to = Math.floor(Date.now() / 1_000)
        const window = resolveChartWindow(chart, { interval, from: to - 40 * 3_600, to }, Date.now())
        const given = { serverVersion: engine.version, logs: engine.logs, zone: 'Asia/Kathmandu', parameters: {} }
        await expect(run(buildChartStatement(chart, { ...given, window }))).resolves.toBeDefined()
      }
    })
  }

  if (logsOf(chart).length > 0) {
    it('reads rotated logs too', { tags: ['long'] }, async () => {
      if (await findMissingRequirement(chart)) return
      const logs = await rotated(logsOf(chart))
      const window = resolveChartWindow(chart, {}, Date.now())
      const given = { serverVersion: engine.version, logs, window, zone: undefined, parameters: {} }
      await expect(run(buildChartStatement(chart, given))).resolves.toBeDefined()
    })
  }

  if (earlyBranches(chart).length > 0) {
    it('runs where names are resolved as before 24.3', { tags: ['long'] }, async () => {
      if (await findMissingRequirement(chart)) return
      const window = resolveChartWindow(chart, {}, Date.now())
      for (const sql of earlyBranches(chart)) {
        const given = { serverVersion: engine.version, logs: engine.logs, window, zone: undefined, parameters: {} }
        await runWithOldAnalyzer(buildChartStatement({ ...chart, sql }, given))
      }
    })
  }

  it('only reads, in every branch', () => {
    const window = resolveChartWindow(chart, {}, Date.now())
    for (const { sql } of toSqlBranches(chart.sql)) {
      const given = { serverVersion: engine.version, logs: engine.logs, window, zone: undefined, parameters: {} }
      expect(buildChartStatement({ ...chart, sql }, given)?.sql).toSatisfy(isReadOnly)
    }
  })

  it('lists the tables that it reads in requires', () => {
    expect(chart.requires).toEqual(expect.arrayContaining(logsOf(chart).map((log) => `system.${log}`)))
  })
})

describe.each(tables)('the table page $name', { tags: ['long'] }, (table) => {
  it('runs and has the columns that it declares, in their order', async () => {
    for (const sql of await eachBranch('table page', table)) {
      const request = { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined }
      const given = { serverVersion: engine.version, logs: engine.logs, limit: 100, zone: undefined }
      const answer = await run(buildTableStatement({ ...table, sql }, request, given))
      expect(answer.columns.map((column) => column.name)).toEqual(table.columns.map((column) => column.name))
      const types = new Map(answer.columns.map((column) => [column.name, column.type]))
      for (const { name, format } of table.columns) {
        if (format === 'time' || format === 'relative-time')
          expect([name, types.get(name)]).toEqual([name, expect.stringMatching(/Int64/)])
        if (format === 'list') expect([name, types.get(name)]).toEqual([name, expect.stringMatching(/^Array/)])
      }
    }
  })

  if (logsOf(table).length > 0) {
    it('reads rotated logs too', { tags: ['long'] }, async () => {
      if (await findMissingRequirement(table)) return
      const request = { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined }
      const given = { serverVersion: engine.version, logs: await rotated(logsOf(table)), limit: 10, zone: undefined }
      await expect(run(buildTableStatement(table, request, given))).resolves.toBeDefined()
    })
  }

  if (earlyBranches(table).length > 0) {
    it('runs where names are resolved as before 24.3', { tags: ['long'] }, async () => {
      if (await findMissingRequirement(table)) return
      const request = { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined }
      for (const sql of earlyBranches(table)) {
        const given = { serverVersion: engine.version, logs: engine.logs, limit: 10, zone: undefined }
        await runWithOldAnalyzer(buildTableStatement({ ...table, sql }, request, given))
      }
    })
  }

  it('only reads, in every branch', () => {
    const request = { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined }
    for (const { sql } of toSqlBranches(table.sql)) {
      const given = { serverVersion: engine.version, logs: engine.logs, limit: 100, zone: undefined }
      expect(buildTableStatement({ ...table, sql }, request, given)?.sql).toSatisfy(isReadOnly)
    }
  })

  it('sorts, filters and searches by every column', { tags: ['long'] }, async () => {
    if (await findMissingRequirement(table)) return
    const given = { serverVersion: engine.version, logs: engine.logs, limit: 10, zone: undefined }
    for (const { name, format } of table.columns) {
      const operators = (['eq', 'in', 'ge', 'contains'] as const).filter(
        (operator) => format !== 'list' || operator !== 'ge',
      )
      const filters = operators.map((operator) => ({ column: name, operator, values: ['1'] }))
      const sort = { column: name, direction: 'desc' } as const
      const statement = buildTableStatement(table, { filters, offset: 1, parameters: {}, search: 'a', sort }, given)
      await expect(run(statement)).resolves.toBeDefined()
    }
  })
})

/** The statements of rules and metrics. */
const measuring = [
  ...rules.flatMap(({ sql, ...rule }) => (sql === undefined ? [] : [{ ...rule, sql, kind: 'rule' as const }])),
  ...metrics.map((metric) => ({ ...metric, kind: 'metric' as const, columns: ['measured' as const], alone: false })),
]
const measuringBy = (sql: string, { columns, ...rest }: (typeof measuring)[number]) => {
  const expanded = expandMacros(sql, createRuleScope(rest, engine.logs))
  return { key: rest.name, requires: rest.requires, alone: rest.alone, isSlow: false, columns, sql: expanded }
}

describe.each(measuring)('the $kind $name', (wanted) => {
  it('measures in one row, with the columns that it declares', async () => {
    for (const sql of await eachBranch(wanted.kind, wanted)) {
      const ready = measuringBy(sql, wanted)
      const { columns, rows } = await run({ what: 'test', sql: ready.sql })
      expect(columns.map(({ name }) => name).toSorted()).toEqual(wanted.columns.toSorted())
      expect(rows).toHaveLength(1)
      const joined = await run(joinStatements([ready]))
      const reading = parseMeasurements(parts.hosts.get('sandbox'), [ready], joined.rows).get(wanted.name)
      expect(reading).toMatchObject({ reason: null, value: expect.any(Number) })
    }
  })

  it('runs where names are resolved as before 24.3, and only reads', { tags: ['long'] }, async () => {
    for (const { sql } of toSqlBranches(wanted.sql)) {
      const statement = joinStatements([measuringBy(sql, wanted)])
      expect(statement.sql).toSatisfy(isReadOnly)
      if (!(await findMissingRequirement(wanted))) await runWithOldAnalyzer(statement)
    }
  })
})

const diagnosed = rules.flatMap((rule: LoadedRule) => {
  const { diagnostic: sql, diagnosticRequires: requires = rule.requires } = rule
  return sql === undefined ? [] : [{ name: rule.name, rule, sql, requires }]
})

describe.each(diagnosed)('the diagnostic of $name', ({ rule, ...definition }) => {
  it('runs, also where names are resolved as before 24.3, and only reads', async () => {
    for (const sql of await eachBranch('diagnostic', definition)) {
      const statement = buildDiagnosticStatement({ ...rule, diagnostic: sql }, engine.version, engine.logs)
      await expect(run(statement)).resolves.toBeDefined()
      await runWithOldAnalyzer(statement)
    }
    for (const { sql } of toSqlBranches(definition.sql)) {
      expect(buildDiagnosticStatement({ ...rule, diagnostic: sql }, engine.version, engine.logs)?.sql).toSatisfy(
        isReadOnly,
      )
    }
  })
})
