import { LRUCache } from 'lru-cache'
import type { Sql } from '#proto/catalogue.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import { tooOld } from '../clickhouse/availability.ts'
import { type Capabilities, sqlFor } from '../clickhouse/capabilities.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { ruleScope } from '../definitions/check.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { maxOffenderLength, maxOffenders, type Measured, untold, worstOf } from './measured.ts'

/** With those of evaluators, which ask three, a host is asked twelve statements in one sweep. */
const maxStatements = 9
/** Fewer rules than this are not spread over several statements. */
const minTogether = 8

/** More that ask to be alone share one statement with those that were slow before. */
const maxAlone = 5

/** What is asked together: rules that read the same beside one another, those that may be slow with each other, and some alone. */
export const groupsOf = (ready: readonly Ready[]): Ready[][] => {
  const wanting = ready.filter((each) => each.alone)
  const alone = wanting.slice(0, maxAlone).map((each) => [each])
  const slow = [...wanting.slice(maxAlone), ...ready.filter((each) => each.isSlow && !each.alone)]
  const others = ready.filter((each) => !each.alone && !each.isSlow).toSorted(byTable)
  // First what may take long, so that nobody waits for it at the end.
  const first = slow.length > 0 ? [...alone, slow] : alone
  const slots = Math.max(1, maxStatements - first.length)
  const size = Math.max(minTogether, Math.ceil(others.length / slots))
  const together = Array.from({ length: Math.ceil(others.length / size) }, (_, index) =>
    others.slice(index * size, (index + 1) * size),
  )
  return [...first, ...together]
}

const byTable = (a: Ready, b: Ready): number =>
  (a.requires[0] ?? '').localeCompare(b.requires[0] ?? '') || a.key.localeCompare(b.key)

/** A rule with a statement, or a metric, under a key of its own. */
export interface Measurable extends Pick<RuleDefinition, 'requires' | 'lastMinutes' | 'columns' | 'alone'> {
  key: string
  sql: Sql
}

/** What is asked together. */
export interface Group {
  asked: readonly Ready[]
  statement: Statement
}

/** What a host is asked, and why it cannot be asked the rest. */
export interface Plan {
  groups: readonly Group[]
  untold: ReadonlyMap<string, (host: MonitoredHost) => string>
}

/** All that a plan is made from; a key says which measurable it is. */
export interface Planning extends Pick<Capabilities, 'version' | 'tables' | 'logs'> {
  wanted: readonly Measurable[]
  /** Keys of those that have taken too long. */
  slow: ReadonlySet<string>
  withValues: boolean
}

/** Plans of hosts with the same tables that are remembered: they differ by version, sweep and what was too slow. */
const maxKnown = 20

/** Makes plans, once for all hosts that are alike: of a fleet that is most of them. */
export const openPlans = (): ((planning: Planning) => Plan) => {
  const known = new WeakMap<ReadonlySet<string>, LRUCache<string, Plan>>()
  return (planning) => {
    const { tables, version, withValues, wanted, slow } = planning
    const plans = known.get(tables) ?? new LRUCache<string, Plan>({ max: maxKnown })
    known.set(tables, plans)
    const key = [version, withValues, ...wanted.map((each) => each.key), '', ...slow].join('\n')
    const plan = plans.get(key) ?? planOf(planning)
    plans.set(key, plan)
    return plan
  }
}

/** Asked in one statement. */
export const groupOf = (asked: readonly Ready[]): Group => ({ asked, statement: joinedStatement(asked) })

const planOf = ({ wanted, version, tables, logs, slow, withValues }: Planning): Plan => {
  const ready: Ready[] = []
  const untold: [string, (host: MonitoredHost) => string][] = []
  for (const each of wanted) {
    const sql = sqlFor(each.sql, version)
    const missing = each.requires.filter((table) => !tables.has(table.slice('system.'.length)))
    if (sql === undefined) untold.push([each.key, (host) => tooOld(host, version).message])
    else if (missing.length > 0)
      untold.push([each.key, ({ name }) => `host ${name} has no ${missing.join(', ')}, or its user may not see it`])
    else {
      const expanded = expandMacros(sql.trim(), ruleScope(each, logs, withValues))
      ready.push({ ...each, sql: expanded, isSlow: slow.has(each.key) })
    }
  }
  return { groups: groupsOf(ready).map(groupOf), untold: new Map(untold) }
}

/** A statement that measures one thing in one row, ready to be sent. */
export interface Ready {
  key: string
  /** What it reads, of which the first is what it is asked together by. */
  requires: readonly string[]
  sql: string
  columns: RuleDefinition['columns']
  alone: boolean
  /** It has taken too long on this host before. */
  isSlow: boolean
}

const maxSeconds = 10

/** One statement that measures all of them: a row for each. */
export const joinedStatement = (asked: readonly Ready[]): Statement => ({
  what: 'rules',
  hot: true,
  maxSeconds,
  sql: asked.map(rowOf).join('\nUNION ALL\n'),
})

/** Every cell has a name of its own: older servers, such as 24.8, refuse a union with two columns of one name, as bare NULLs are. */
const rowOf = ({ sql, columns }: Ready, index: number): string => {
  const number = (column: Ready['columns'][number]): string =>
    columns.includes(column) ? `toFloat64(${column})` : "CAST(NULL, 'Nullable(Float64)')"
  const offenders = columns.includes('offenders')
    ? `arraySlice(arrayMap(each -> substringUTF8(toString(each), 1, ${maxOffenderLength}), offenders), 1, ${maxOffenders})`
    : "CAST([], 'Array(String)')"
  const cells = [index, ...(['measured', 'warning', 'critical', 'samples'] as const).map(number), offenders]
  return `SELECT ${cells.map((cell, place) => `${cell} AS cell_${place}`).join(', ')}\nFROM (\n${sql}\n)`
}

/** What each of them measured; a figure that the host gives no number for is untold. */
export const readingsOf = (
  host: MonitoredHost,
  asked: readonly Ready[],
  rows: readonly (readonly unknown[])[],
): Map<string, Measured> => {
  if (!rows.every(isRow)) throw hostFailure(host, 'garbage')
  const byIndex = new Map(rows.map((row) => [Number(row[0]), row]))
  return new Map(asked.map(({ key }, index) => [key, readingOf(host, byIndex.get(index))]))
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

/** Checked by hand, for a sweep of a fleet reads a hundred thousand of them. */
const isRow = (row: readonly unknown[]): row is Row => {
  const [index, value, warning, critical, samples, offenders] = row
  const areFigures = isFigure(value) && isFigure(warning) && isFigure(critical) && isFigure(samples)
  return areFigures && Number.isInteger(Number(index)) && Array.isArray(offenders) && offenders.every(isText)
}

const isFigure = (cell: unknown): cell is Figure => cell === null || Number.isFinite(cell)
const isText = (cell: unknown): cell is string => typeof cell === 'string'

const readingOf = (host: MonitoredHost, row: Row | undefined): Measured => {
  if (row === undefined || row[1] === null) return untold(`host ${host.name} does not know this figure`)
  const [, value, warning, critical, samples, offenders] = row
  return { value, reason: null, warning, critical, samples, offenders: worstOf(offenders) }
}
