import { isOwn, ownPurpose } from '#shared/sql/statement-text.ts'
import { buckets, zoned, type ChartWindow } from './window.ts'
import type { RotatedLogs } from '../clickhouse/capabilities.ts'

/** What the macros of a statement stand for at this moment. */
export interface Scope {
  window: Pick<ChartWindow, 'interval' | 'since' | 'until'> | undefined
  zone: string | undefined
  /** A log that was rotated is read together with its earlier tables. */
  logs: RotatedLogs
  /** Whether statements include their values. Default: patterns only. */
  withValues?: boolean
}

type Macro = (argument: string, scope: Scope) => string

const inWindow = (scope: Scope): NonNullable<Scope['window']> => {
  if (!scope.window) throw new Error('has no window; it needs lastHours, or a parameter last_hours in a table')
  return scope.window
}

/** All there is; a function that is missing here is the sign that a definition should be a handler. */
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
  clock: (expression, { zone }) => `toString(${expression}${zoned(zone)})`,
  day: (expression, { zone }) => `toString(toDate(${expression}${zoned(zone)}))`,
  seconds: (_, scope) => String(bucketOf(scope).seconds),
  own: () => isOwn,
  purpose: () => ownPurpose,
  words: (expression) => withoutStatement(expression),
  statement: (expression, { withValues = false }) =>
    onOneLine(withValues ? expression : `normalizeQuery(${expression})`),
  ms: (expression) => `toUnixTimestamp64Milli(toDateTime64(${expression}, 3))`,
}

const withArgument = new Set(['log', 'bucket', 'clock', 'day', 'ms', 'words', 'statement'])

const bucketOf = (scope: Scope) => {
  const { interval } = inWindow(scope)
  if (interval === undefined) throw new Error('has no interval')
  return buckets[interval]
}

/** SQL for an error message without its statement and values. */
const withoutStatement = (expression: string): string => {
  const shortened = String.raw`replaceRegexpOne(${expression}, '(?is)( in scope |: failed at position |[:.,(]\\s*(while |in query|query:)).*$', '')`
  return String.raw`leftUTF8(replaceRegexpAll(${shortened}, '\'[^\']*\'', '?'), 300)`
}

/** The beginning of a statement, short enough for a line of a message. */
const onOneLine = (expression: string): string =>
  String.raw`leftUTF8(trimBoth(replaceRegexpAll(${expression}, '\\s+', ' ')), 120)`

const logTable = (name: string, logs: RotatedLogs): string => {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`$log takes the name of a table in system, not ${name}`)
  return logs.get(name) ?? `system.${name}`
}

/** Replaces `$name` and `$name(argument)`; throws a sentence when one is unknown, incomplete or has no meaning here. */
export const expandMacros = (sql: string, scope: Scope): string => {
  let expanded = ''
  let rest = sql
  for (let found = nextMacro(rest); found; found = nextMacro(rest)) {
    expanded += rest.slice(0, found.index)
    const macro = macros[found.name]
    if (!macro)
      throw new Error(
        `unknown macro $${found.name}; there are ${Object.keys(macros)
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

/** The text between the parenthesis that comes first and its partner. */
const argumentOf = (name: string, text: string): string => {
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
