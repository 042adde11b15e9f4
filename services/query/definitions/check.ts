import { type ChartDefinition, intervals, type VersionedSql, type TableDefinition } from '#proto/catalogue.ts'
import { lookbackParameter } from '#proto/lookback.ts'
import type { MetricDefinition, RuleDefinition } from '#proto/rule-definition.ts'
import { evaluators } from '../rules/evaluators/index.ts'
import { expandMacros, type MacroScope } from './macros.ts'
import { resolveTableWindow, presentEndSql } from './window.ts'

/** Returns the problems of a chart that its schema cannot detect. Each message begins with the key. */
export const checkChart = (chart: ChartDefinition): string[] => {
  const times = chart.columns.filter((column) => column.role === 'time').length
  const isTimeline = chart.kind === 'timeline'
  const scope = {
    window: chart.lastHours === undefined ? undefined : { interval: chart.interval, since: 'now()', until: 'now()' },
  }
  return [
    ...checkNames(chart.columns),
    ...(times > 1 ? ['columns: only one column may have the role "time"'] : []),
    ...(times === 1 && !isTimeline && (!chart.interval || !chart.lastHours)
      ? ['interval: a time column needs interval and lastHours']
      : []),
    // Events have exact instants in epoch milliseconds, not buckets.
    ...(isTimeline && (times === 0 || chart.interval || !chart.lastHours)
      ? ['kind: a timeline needs a time column and lastHours, and takes no interval']
      : []),
    ...(times === 0 && chart.kind === 'heatmap' ? ['kind: a heatmap needs a time column'] : []),
    ...(times === 0 && chart.interval ? ['interval: requires a time column'] : []),
    ...(chart.interval ? [] : chart.columns.filter(({ per }) => per !== undefined)).map(
      ({ name }) => `columns.per: "${name}" is not a total of a bucket; set interval`,
    ),
    ...checkLinks(chart.columns, [{ href: chart.href }], 'href'),
    ...checkLinks(chart.columns),
    ...checkSql(chart.sql, { ...anyScope, ...scope }),
    ...(chart.history === undefined ? [] : checkSql(chart.history, { ...anyScope, ...scope }, 'history')),
    ...checkParameters(chart.sql, chart.parameters),
  ]
}

export const checkTable = (table: TableDefinition): string[] => {
  const names = new Set(table.columns.map((column) => column.name))
  return [
    ...checkNames(table.columns),
    ...(table.sort && !names.has(table.sort.column) ? [`sort.column: unknown column "${table.sort.column}"`] : []),
    ...(table.key ?? []).filter((name) => !names.has(name)).map((name) => `key: unknown column "${name}"`),
    ...(table.logTime !== undefined && !names.has(table.logTime) ? [`logTime: unknown column "${table.logTime}"`] : []),
    ...checkLinks(table.columns),
    ...checkSql(table.sql, { ...anyScope, window: resolveTableWindow(table) }),
    ...(table.history === undefined
      ? []
      : checkSql(table.history, { ...anyScope, window: resolveTableWindow(table) }, 'history')),
    ...checkParameters(table.sql, table.parameters),
  ]
}

const anyScope: MacroScope = { window: undefined, zone: undefined, logs: new Map() }

const checkNames = (columns: readonly { name: string }[]): string[] => {
  const names = columns.map((column) => column.name)
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `columns: duplicate column "${name}"`)
}

/** Returns the problems of links whose placeholders name unknown columns. */
const checkLinks = (
  columns: readonly { name: string; href?: string | undefined }[],
  links: readonly { href?: string | undefined }[] = columns,
  key = 'columns.href',
): string[] => {
  const names = new Set(columns.map(({ name }) => name))
  return links
    .flatMap(({ href = '' }) => [...href.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))
    .filter((name) => !names.has(name))
    .map((name) => `${key}: unknown column "${name}"`)
}

/** Returns the version branches of a definition; `since` is undefined for SQL without branches. */
export const toSqlBranches = (sql: VersionedSql): { since: string | undefined; sql: string }[] =>
  typeof sql === 'string' ? [{ since: undefined, sql }] : sql

/** Returns the macro errors of a statement. Each message begins with `key`. */
const checkSql = (sql: VersionedSql, scope: MacroScope, key = 'sql'): string[] =>
  toSqlBranches(sql).flatMap((branch, index) => {
    const where = branch.since === undefined ? key : `${key}.${index}`
    try {
      expandMacros(branch.sql, {
        ...scope,
        window: scope.window && { ...scope.window, interval: scope.window.interval ?? intervals[0] },
      })
      return []
    } catch (error) {
      return [`${where}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })

const checkParameters = (sql: VersionedSql, parameters: readonly { name: string; type: string }[]): string[] => {
  const texts = toSqlBranches(sql).map((branch) => branch.sql)
  const used = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/\{(\w+):\s*([^}]+)\}/g)].map((found) => [found[1] ?? '', found[2] ?? '']),
    ),
  )
  const windowed = texts.some((text) => /\$(?:window|since|until)\b/.test(text))
  const declared = new Set(parameters.map((parameter) => parameter.name))
  const unused = parameters.filter(({ name }) => !used.has(name) && !(name === lookbackParameter && windowed))
  const otherwise = parameters.filter(({ name, type }) => used.has(name) && used.get(name) !== type)
  return [
    ...[...used.keys()].filter((name) => !declared.has(name)).map((name) => `parameters: {${name}} is not declared`),
    ...unused.map(({ name }) => `parameters: ${name} is not used`),
    ...otherwise.map(({ name, type }) => `parameters: ${name} is declared as ${type} and used as ${used.get(name)}`),
  ]
}

/** Returns the problems of a rule that its schema cannot detect. Each message begins with the key. */
export const checkRule = (rule: RuleDefinition): string[] => [
  ...checkSource(rule),
  ...checkThresholds(rule),
  ...(rule.columns.includes('measured') ? [] : ['columns: the column "measured" is required']),
  ...(rule.sql === undefined ? [] : checkSql(rule.sql, createRuleScope(rule))),
  ...(rule.diagnostic === undefined ? [] : checkSql(rule.diagnostic, createRuleScope(rule), 'diagnostic')),
]

export const checkMetric = (metric: MetricDefinition): string[] => checkSql(metric.sql, createRuleScope(metric))

/** Returns the macro scope of a rule or metric for a server with the given rotated logs. */
export const createRuleScope = (
  { lastMinutes }: Pick<RuleDefinition, 'lastMinutes'>,
  logs = anyScope.logs,
  withValues = false,
): MacroScope => ({
  ...anyScope,
  logs,
  withValues,
  window:
    lastMinutes === undefined
      ? undefined
      : { interval: undefined, since: `(now() - toIntervalMinute(${lastMinutes}))`, until: presentEndSql },
})

const checkSource = ({ sql, evaluator, allOf, minimumSamples, columns }: RuleDefinition): string[] => {
  const sources = [sql, evaluator, allOf].filter((source) => source !== undefined)
  if (sources.length !== 1) return ['sql: a rule has exactly one of sql, evaluator and allOf']
  if (evaluator !== undefined && !Object.hasOwn(evaluators, evaluator))
    return [`evaluator: unknown evaluator "${evaluator}"; allowed: ${Object.keys(evaluators).join(', ')}`]
  if (minimumSamples !== undefined && !columns.includes('samples'))
    return ['columns: minimumSamples requires the column "samples"']
  return []
}

const checkThresholds = ({ thresholds, columns }: RuleDefinition): string[] => {
  const { warning, critical, below } = thresholds
  const isReached = warning !== null || critical !== null || columns.some(isThreshold)
  if (!isReached) return ['thresholds: a rule needs warning or critical']
  const isMilder = warning === null || critical === null || (below ? critical <= warning : critical >= warning)
  return isMilder ? [] : ['thresholds: critical must be at least as severe as warning']
}

const isThreshold = (column: string): boolean => column === 'warning' || column === 'critical'

/** Tables that the server reads from Keeper. Its own logs of Keeper requests are not among them. */
const keeperTables = /\bsystem\.(?:zookeeper(?:_info|_watches|_connection)?|distributed_ddl_queue)\b/
/** Columns of `system.replicas` that need a Keeper request. */
const keeperColumns = /\b(?:total_replicas|active_replicas|replica_is_active|log_max_index|zookeeper_exception)\b/

/**
 * Returns whether a statement reads from Keeper. Such statements get a short time limit, because the host ignores its
 * own limit while it waits for Keeper.
 */
export const readsKeeper = (sql: string): boolean =>
  keeperTables.test(sql) || (sql.includes('system.replicas') && keeperColumns.test(sql))
