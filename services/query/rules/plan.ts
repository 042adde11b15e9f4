import { LRUCache } from 'lru-cache'
import type { VersionedSql } from '#proto/catalogue.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import { createUnsupportedVersionReason } from '../clickhouse/availability.ts'
import { type HostCapabilities, selectSqlBranch } from '../clickhouse/capabilities.ts'
import { createHostError } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { createRuleScope } from '../definitions/check.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import {
  maxOffenderLength,
  maxOffenders,
  type Measurement,
  createMissingMeasurement,
  truncateOffenders,
} from './measurement.ts'

/** Maximum number of statements for rules. Evaluators add three, so that a sweep runs at most twelve on a host. */
const maxStatements = 9
/** Minimum number of rules in a shared statement. */
const minGroupSize = 8

/** Maximum number of rules with their own statement. Additional ones share a statement with the slow rules. */
const maxAlone = 5

/** Groups rules into statements: by table, with slow rules in one group and some rules alone. */
export const groupRules = (ready: readonly PreparedRule[]): PreparedRule[][] => {
  const isolated = ready.filter((each) => each.alone)
  const alone = isolated.slice(0, maxAlone).map((each) => [each])
  const slow = [...isolated.slice(maxAlone), ...ready.filter((each) => each.isSlow && !each.alone)]
  const others = ready.filter((each) => !each.alone && !each.isSlow).toSorted(byTable)
  // Slow statements start first, so that the sweep does not wait for them at the end.
  const first = slow.length > 0 ? [...alone, slow] : alone
  const slots = Math.max(1, maxStatements - first.length)
  const size = Math.max(minGroupSize, Math.ceil(others.length / slots))
  const together = Array.from({ length: Math.ceil(others.length / size) }, (_, index) =>
    others.slice(index * size, (index + 1) * size),
  )
  return [...first, ...together]
}

const byTable = (a: PreparedRule, b: PreparedRule): number =>
  (a.requires[0] ?? '').localeCompare(b.requires[0] ?? '') || a.key.localeCompare(b.key)

/** A rule or metric that SQL measures, under a unique key. */
export interface SqlMeasuredDefinition extends Pick<RuleDefinition, 'requires' | 'lastMinutes' | 'columns' | 'alone'> {
  key: string
  sql: VersionedSql
}

/** Rules that are measured by one shared statement. */
export interface RuleGroup {
  rules: readonly PreparedRule[]
  statement: Statement
}

/** The statements for a host, and why it cannot run the remaining rules. */
export interface MeasurementPlan {
  groups: readonly RuleGroup[]
  unavailable: ReadonlyMap<string, (host: MonitoredHost) => string>
}

/** The rules to measure on a host, and the host capabilities that determine their statements. */
export interface PlanInput extends Pick<HostCapabilities, 'version' | 'tables' | 'logs'> {
  wanted: readonly SqlMeasuredDefinition[]
  /** Keys of rules that have been too slow on this host. */
  slow: ReadonlySet<string>
  withValues: boolean
}

/** Maximum number of cached plans per set of tables. They differ by version, requested rules and slow rules. */
const maxCached = 20

/** Returns a planner that caches plans, because most hosts of a fleet share one. */
export const openPlanner = (): ((planning: PlanInput) => MeasurementPlan) => {
  const known = new WeakMap<ReadonlySet<string>, LRUCache<string, MeasurementPlan>>()
  return (planning) => {
    const { tables, version, withValues, wanted, slow } = planning
    const plans = known.get(tables) ?? new LRUCache<string, MeasurementPlan>({ max: maxCached })
    known.set(tables, plans)
    const key = [version, withValues, ...wanted.map((each) => each.key), '', ...slow].join('\n')
    const plan = plans.get(key) ?? planOf(planning)
    plans.set(key, plan)
    return plan
  }
}

export const createRuleGroup = (rules: readonly PreparedRule[]): RuleGroup => ({
  rules,
  statement: joinStatements(rules),
})

const planOf = ({ wanted, version, tables, logs, slow, withValues }: PlanInput): MeasurementPlan => {
  const ready: PreparedRule[] = []
  const unavailable: [string, (host: MonitoredHost) => string][] = []
  for (const each of wanted) {
    const sql = selectSqlBranch(each.sql, version)
    const missing = each.requires.filter((table) => !tables.has(table.slice('system.'.length)))
    if (sql === undefined) unavailable.push([each.key, (host) => createUnsupportedVersionReason(host, version).message])
    else if (missing.length > 0)
      unavailable.push([
        each.key,
        ({ name }) => `host ${name} has no ${missing.join(', ')}, or its user may not see it`,
      ])
    else {
      const expanded = expandMacros(sql.trim(), createRuleScope(each, logs, withValues))
      ready.push({ ...each, sql: expanded, isSlow: slow.has(each.key) })
    }
  }
  return { groups: groupRules(ready).map(createRuleGroup), unavailable: new Map(unavailable) }
}

/** A rule or metric with expanded SQL that returns one row. */
export interface PreparedRule {
  key: string
  /** Tables that the rule reads; rules are grouped by the first one. */
  requires: readonly string[]
  sql: string
  columns: RuleDefinition['columns']
  alone: boolean
  /** Whether the rule has been too slow on this host before. */
  isSlow: boolean
}

const maxSeconds = 10

/** Returns one statement with a row for each rule. */
export const joinStatements = (rules: readonly PreparedRule[]): Statement => ({
  what: 'rules',
  hot: true,
  maxSeconds,
  sql: rules.map(rowOf).join('\nUNION ALL\n'),
})

/** Returns the row of a rule. Cells have unique names, as servers such as 24.8 reject duplicate names in a UNION. */
const rowOf = ({ sql, columns }: PreparedRule, index: number): string => {
  const number = (column: PreparedRule['columns'][number]): string =>
    columns.includes(column) ? `toFloat64(${column})` : "CAST(NULL, 'Nullable(Float64)')"
  const offenders = columns.includes('offenders')
    ? `arraySlice(arrayMap(each -> substringUTF8(toString(each), 1, ${maxOffenderLength}), offenders), 1, ${maxOffenders})`
    : "CAST([], 'Array(String)')"
  const cells = [index, ...(['measured', 'warning', 'critical', 'samples'] as const).map(number), offenders]
  return `SELECT ${cells.map((cell, place) => `${cell} AS cell_${place}`).join(', ')}\nFROM (\n${sql}\n)`
}

/** Returns the measurement of each rule by key. */
export const parseMeasurements = (
  host: MonitoredHost,
  rules: readonly PreparedRule[],
  rows: readonly (readonly unknown[])[],
): Map<string, Measurement> => {
  if (!rows.every(isRow)) throw createHostError(host, 'garbage')
  const byIndex = new Map(rows.map((row) => [Number(row[0]), row]))
  return new Map(rules.map(({ key }, index) => [key, readingOf(host, byIndex.get(index))]))
}

type Figure = number | null
type Row = readonly [
  index: unknown,
  value: Figure,
  warning: Figure,
  critical: Figure,
  samples: Figure,
  offenders: string[],
]

/** Checks a row without a schema, because a fleet sweep reads a hundred thousand rows. */
const isRow = (row: readonly unknown[]): row is Row => {
  const [index, value, warning, critical, samples, offenders] = row
  const areFigures = isFigure(value) && isFigure(warning) && isFigure(critical) && isFigure(samples)
  return areFigures && Number.isInteger(Number(index)) && Array.isArray(offenders) && offenders.every(isText)
}

const isFigure = (cell: unknown): cell is Figure => cell === null || Number.isFinite(cell)
const isText = (cell: unknown): cell is string => typeof cell === 'string'

const readingOf = (host: MonitoredHost, row: Row | undefined): Measurement => {
  if (row === undefined || row[1] === null) return createMissingMeasurement(`host ${host.name} returned no value`)
  const [, value, warning, critical, samples, offenders] = row
  return { value, reason: null, incomplete: null, warning, critical, samples, offenders: truncateOffenders(offenders) }
}
