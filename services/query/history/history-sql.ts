import type { ChartDefinition, TableDefinition } from '#proto/catalogue.ts'
import { lookbackParameter } from '#proto/lookback.ts'
import { selectSqlBranch } from '../clickhouse/capabilities.ts'
import type { ParameterValues } from '../definitions/parameters.ts'
import { readsUnrecorded, rewriteAggregates, unknownValue } from './aggregates.ts'
import { aggregatedLogs } from './recorded-logs.ts'

/** The history speaks the SQL of this version. */
export const historyVersion = '99.12'

/** The SQL of a definition that reads the history, and the log whose rows it replaces. */
export interface HistorySql {
  log: string
  sql: string
}

type Definition = Pick<ChartDefinition, 'sql' | 'history' | 'parameters'> & {
  columns: readonly { name: string; role?: string }[]
  sort?: TableDefinition['sort']
}

/** Returns the SQL that reads a chart or table page from the history; undefined if it cannot be read from there. */
export const findHistorySql = (definition: Definition, parameters: ParameterValues): HistorySql | undefined => {
  const own = selectSqlBranch(definition.sql, historyVersion) ?? ''
  const [log, ...others] = new Set([...own.matchAll(/\$log\((\w+)\)/g)].map(([, name = '']) => name))
  if (log === undefined) return undefined
  const given = readGivenParameters(definition, parameters)
  if (given.includes('own')) return undefined
  if (definition.history !== undefined) {
    const { history } = definition
    return given.every((name) => history.includes(`{${name}:`)) ? { log, sql: history } : undefined
  }
  if (others.length > 0 || /\bsystem\.|\$running\b/.test(own)) return undefined
  const sql = rewriteLog(log, withoutUnusedFilters(withoutOwnCondition(own), given))
  return sql === undefined || hasNoValue(definition, sql) ? undefined : { log, sql }
}

/** Returns the names of the parameters whose values differ from their defaults. */
const readGivenParameters = ({ parameters }: Definition, values: ParameterValues): string[] =>
  parameters
    .filter(({ name, default: fallback }) => {
      const value = values[name]
      const isSet = value !== undefined && value !== false && String(value) !== String(fallback)
      return isSet && name !== lookbackParameter
    })
    .map(({ name }) => name)

/** Statements of Watchhouse itself are not recorded. */
const withoutOwnCondition = (sql: string): string =>
  sql.replaceAll('({own:Bool} OR NOT $own)', '({own:Bool} OR 1)').replaceAll(' AND NOT $own', '')

/** Removes the filters of parameters that are not set, because they can read columns that are not recorded. */
const withoutUnusedFilters = (sql: string, given: readonly string[]): string =>
  sql.replaceAll(/^\s*AND \(\{(\w+):\w+\} = '' OR .*\)$/gm, (line: string, name: string) =>
    given.includes(name) ? line : '',
  )

const rewriteLog = (log: string, sql: string): string | undefined => {
  if (log === 'metric_log') return rewriteMetricLog(sql)
  if (log === 'asynchronous_metric_log') return rewriteAsynchronousLog(sql)
  if (log === 'error_log') return /\b(?:code|remote|count\(\)|last_\w+)/.test(sql) ? undefined : sql
  const aggregated = aggregatedLogs[log]
  if (!aggregated || /\$(?:own|purpose)\b/.test(sql)) return undefined
  const rewritten = rewriteAggregates(sql, aggregated)
  return readsUnrecorded(rewritten, aggregated) ? undefined : rewritten
}

/** The history has one row per minute instead of one per second, and separate columns for maxima. */
const rewriteMetricLog = (sql: string): string =>
  sql
    .replaceAll('uniqExact(event_time)', 'sum(seconds)')
    .replaceAll(/\b(max\w*)\((CurrentMetric_\w+)\)/g, '$1($2_highest)')

const rewriteAsynchronousLog = (sql: string): string => sql.replaceAll(/\b(max\w*)\(value\b/g, '$1(highest')

/** Returns whether no value of a chart, or not the one by which a table page is sorted, is recorded. */
const hasNoValue = ({ columns, sort }: Definition, sql: string): boolean => {
  const isUnknown = (name: string) => new RegExp(String.raw`\b${unknownValue} AS ${name}\b`).test(sql)
  const values = columns.filter(({ role }) => role === 'value')
  return values.length > 0 ? values.every(({ name }) => isUnknown(name)) : sort !== undefined && isUnknown(sort.column)
}
