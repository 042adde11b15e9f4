import {
  watchhouseProcessCondition,
  watchhouseStatementCondition,
  statementSourceExpression,
} from '#shared/sql/statement-text.ts'
import { buckets, buildZoneArgument, type ChartWindow } from './window.ts'
import type { RotatedLogExpressions } from '../clickhouse/capabilities.ts'

/** The values from which the macros of a statement are expanded. */
export interface MacroScope {
  window: Pick<ChartWindow, 'interval' | 'since' | 'until'> | undefined
  zone: string | undefined
  /** Table expressions that read rotated logs together with their earlier tables. */
  logs: RotatedLogExpressions
  /** Whether `$statement` includes literal values. The default is the normalized pattern. */
  withValues?: boolean
}

type Macro = (argument: string, scope: MacroScope) => string

const inWindow = (scope: MacroScope): NonNullable<MacroScope['window']> => {
  if (!scope.window)
    throw new Error('no time window is defined; set lastHours, or declare the parameter last_hours in a table')
  return scope.window
}

/** All macros. Write a handler instead of a definition if these do not suffice. */
const macros: Readonly<Record<string, Macro>> = {
  log: (name, { logs }) => logTable(name, logs),
  since: (_, scope) => inWindow(scope).since,
  until: (_, scope) => inWindow(scope).until,
  window: (_, scope) => {
    const { since, until } = inWindow(scope)
    return [
      `event_date >= toDate(${since})`,
      `event_date <= toDate(${until})`,
      `event_time >= ${since}`,
      `event_time < ${until}`,
    ].join(' AND ')
  },
  bucket: (expression, scope) => bucketOf(scope).start(expression, scope.zone),
  clock: (expression, { zone }) => `toString(${expression}${buildZoneArgument(zone)})`,
  day: (expression, { zone }) => `toString(toDate(${expression}${buildZoneArgument(zone)}))`,
  seconds: (_, scope) => String(bucketOf(scope).seconds),
  own: () => watchhouseStatementCondition,
  ownprocess: () => watchhouseProcessCondition,
  running: (_, scope) => runningQueries(inWindow(scope)),
  purpose: () => statementSourceExpression,
  words: (expression) => withoutStatement(expression),
  statement: (expression, { withValues = false }) =>
    onOneLine(withValues ? expression : `normalizeQuery(${expression})`),
  ms: (expression) => `toUnixTimestamp64Milli(toDateTime64(${expression}, 3))`,
}

const withArgument = new Set(['log', 'bucket', 'clock', 'day', 'ms', 'words', 'statement'])

const bucketOf = (scope: MacroScope) => {
  const { interval } = inWindow(scope)
  if (interval === undefined) throw new Error('the chart has no interval; set interval')
  return buckets[interval]
}

/** Returns SQL that removes the statement and all values from an error message. */
const withoutStatement = (expression: string): string => {
  const shortened = String.raw`replaceRegexpOne(${expression}, '(?is)( in scope |: failed at position |[:.,(]\\s*(while |in query|query:)).*$', '')`
  return String.raw`leftUTF8(replaceRegexpAll(${shortened}, '\'[^\']*\'', '?'), 300)`
}

/** Maximum length of a statement in a list, in characters. */
const maxStatementCharacters = 120

/**
 * Returns SQL for a statement on one line. A longer one loses its first list of columns, because the tables and
 * conditions behind it distinguish it from others.
 */
const onOneLine = (expression: string): string => {
  const line = String.raw`trimBoth(replaceRegexpAll(${expression}, '\\s+', ' '))`
  const shape = String.raw`replaceRegexpOne(${line}, '(?i)^(.*?\\bselect) .*? (from )', '\\1 … \\2')`
  return `leftUTF8(if(lengthUTF8(${line}) > ${maxStatementCharacters}, ${shape}, ${line}), ${maxStatementCharacters})`
}

/**
 * Returns SQL for the running queries of clients as rows of the query log that would end now. It is empty unless the
 * window includes the present.
 */
const runningQueries = ({ since, until }: NonNullable<MacroScope['window']>): string =>
  `(
    SELECT
      now() AS event_time,
      toUInt64(1000 * elapsed) AS query_duration_ms,
      query_kind,
      user,
      http_user_agent,
      client_name,
      Settings['log_comment'] AS log_comment
    FROM system.processes
    WHERE is_initial_query AND query_id != queryID() AND now() >= ${since} AND now() < ${until}
  )`

const logTable = (name: string, logs: RotatedLogExpressions): string => {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`invalid log table "${name}"; use the name of a table in system`)
  return logs.get(name) ?? `system.${name}`
}

/** Replaces `$name` and `$name(argument)`. Throws an error for unknown, incomplete or inapplicable macros. */
export const expandMacros = (sql: string, scope: MacroScope): string => {
  let expanded = ''
  let rest = sql
  for (let found = nextMacro(rest); found; found = nextMacro(rest)) {
    expanded += rest.slice(0, found.index)
    const macro = macros[found.name]
    if (!macro)
      throw new Error(
        `unknown macro "$${found.name}"; allowed: ${Object.keys(macros)
          .map((name) => `$${name}`)
          .join(', ')}`,
      )
    const after = rest.slice(found.index + 1 + found.name.length)
    const argument = withArgument.has(found.name) ? argumentOf(found.name, after) : ''
    expanded += macro(expandMacros(argument, scope), scope)
    rest = withArgument.has(found.name) ? after.slice(argument.length + 2) : after
  }
  return expanded + rest
}

const nextMacro = (sql: string): { index: number; name: string } | undefined => {
  const found = /\$([a-z]+)/.exec(sql)
  return found ? { index: found.index, name: found[1] ?? '' } : undefined
}

/** Returns the text between the leading parenthesis and the matching closing one. */
export const argumentOf = (name: string, text: string): string => {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(') depth++
    if (text[index] === ')') depth--
    if (depth === 0) {
      if (index === 0) break
      return text.slice(1, index)
    }
  }
  throw new Error(`$${name} needs an argument in parentheses`)
}
