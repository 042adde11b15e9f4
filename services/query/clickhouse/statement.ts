import type { W3cTraceContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { createLogComment } from '#shared/sql/statement-text.ts'
import type { ResultCacheClass } from './result-cache.ts'

/** Maximum size of query parameters in a URL; servers accept about a megabyte, proxies much less. */
const maxParameterBytes = 48 * 1024

export type ParameterValue = string | number | boolean | null
/** Values of the placeholders of a statement. A list is the value of an `Array(String)`. */
export type StatementParameters = Readonly<Record<string, ParameterValue | readonly string[]>>

/** A statement for a host. `what` names the calling component and is written to `log_comment`. */
export interface Statement {
  what: string
  sql: string
  /** A UUID for the query id, so that the statement can be found while it runs; by default a random one. */
  id?: string
  parameters?: StatementParameters
  /** The cache class of the result; absent means that it is not cached. */
  cache?: ResultCacheClass
  /** Uses the cheaper connection pool instead of the official client; for frequent statements to many hosts. */
  hot?: true
  /** Whether the statement is sent without settings, because it reads the settings of the user. */
  bare?: boolean
  /** A time limit below `COLUMNDB_MAX_EXECUTION_TIME`; for statements that write, it replaces that limit. */
  maxSeconds?: number
  /** Whether the statement reads from Keeper: it runs at most `keeperSeconds`, and its timeout error names Keeper. */
  readsKeeper?: boolean
  /** The response is known to be short; a longer one is rejected without reading it to its end. */
  short?: true
  /** Additional limits, sent when the profile of the user allows settings. */
  limits?: Readonly<Record<string, string | number>>
  /** Changes the host; the statement is neither shared between callers nor cached. */
  writes?: true
  /** The default database. */
  database?: string
  /** The session id; statements of a session share its temporary tables and settings. */
  session?: string
}

const backgroundSeconds = 10
/** A server that waits for a hanging Keeper ignores its own time limit for minutes. */
const keeperSeconds = 10
const backgroundThreads = 2
/** ClickHouse runs lower numbers first; statements of users have 0. */
const backgroundPriority = 10

/** Formats of streamed results, whose bytes are passed through. */
export type StreamFormat =
  | 'JSONEachRow'
  | 'CSVWithNames'
  | 'TabSeparatedWithNames'
  | 'JSONCompactEachRowWithNamesAndTypes'

/** Options that determine the settings of a request. */
export interface SendingOptions {
  format: 'JSONCompact' | StreamFormat
  /** The `readonly` setting of the user's profile; 1 forbids every setting. */
  readonly: number
  /** The value of `COLUMNDB_MAX_EXECUTION_TIME`. */
  maxExecutionSeconds: number
  /** Whether no user waits for the result; the statement then gets few threads, low priority and at most 10 seconds. */
  background: boolean
  /** The trace context that the host records in `system.opentelemetry_span_log`. */
  trace?: W3cTraceContext | undefined
}

/** Returns the trace headers of a request. A header without a value would fail the request. */
export const traceHeaders = ({ trace }: Pick<SendingOptions, 'trace'>): Record<string, string> => ({
  ...(trace?.traceparent && { traceparent: trace.traceparent }),
  ...(trace?.tracestate && { tracestate: trace.tracestate }),
})

/** Returns the maximum execution time of a statement on the host, in seconds. */
export const resolveMaxSeconds = (
  statement: Statement,
  { maxExecutionSeconds, background }: Pick<SendingOptions, 'maxExecutionSeconds' | 'background'>,
): number =>
  (statement.writes && statement.maxSeconds) ||
  Math.min(
    maxExecutionSeconds,
    statement.maxSeconds ?? Infinity,
    statement.readsKeeper ? keeperSeconds : Infinity,
    background ? backgroundSeconds : Infinity,
  )

/** Returns path and query string of the request for a statement; the SQL is the body. */
export const buildRequestPath = (base: URL, statement: Statement, queryId: string, sending: SendingOptions): string => {
  const { database, session } = statement
  const own = base.search === '' ? '' : `${base.search.slice(1)}&`
  // The query id consists of letters, digits and dashes, which need no encoding.
  let query = `${own}query_id=${queryId}&default_format=${sending.format}`
  const add = (name: string, value: string): void => {
    query += pairOf(name, value)
  }
  if (database !== undefined) add('database', database)
  if (session !== undefined) add('session_id', session)
  query += settingsText(statement, sending)
  for (const [name, value] of Object.entries(encodeParameters(statement))) add(name, value)
  return `${base.pathname}?${query}`
}

/** Returns the query parameters by their URL names. Throws `too-large` when they do not fit into a URL. */
export const encodeParameters = ({ parameters = {} }: Statement): Record<string, string> => {
  let bytes = 0
  const bound: Record<string, string> = {}
  for (const [name, value] of Object.entries(parameters)) {
    const text = escapeParameter(value)
    bytes += Buffer.byteLength(text)
    bound[`param_${name}`] = text
  }
  if (bytes > maxParameterBytes)
    throw new ServiceError('too-large', 'the filters are too long; use fewer or shorter values')
  return bound
}

const pairOf = (name: string, value: string): string => `&${encodeText(name)}=${encodeText(value)}`

/** Encodes text for a URL. Replaces lone surrogates, which JSON may contain but UTF-8 cannot represent. */
const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed())

/** The last sending options of a statement and the query string of its settings. */
interface CachedSettings extends SendingOptions {
  text: string
}

/** Caches the settings of a statement, because it is usually sent to many hosts with the same options. */
const cachedSettings = new WeakMap<Statement, CachedSettings>()

const settingsText = (statement: Statement, sending: SendingOptions): string => {
  const { format, readonly, maxExecutionSeconds, background } = sending
  const last = cachedSettings.get(statement)
  const isSame =
    last?.format === format &&
    last.readonly === readonly &&
    last.maxExecutionSeconds === maxExecutionSeconds &&
    last.background === background
  if (isSame) return last.text
  const pairs = Object.entries(buildRequestSettings(statement, sending))
  const text = pairs.map(([name, value]) => pairOf(name, String(value))).join('')
  cachedSettings.set(statement, { format, readonly, maxExecutionSeconds, background, text })
  return text
}

/** Returns the ClickHouse settings of a request; none when the profile of the user forbids them. */
export const buildRequestSettings = (
  statement: Statement,
  sending: SendingOptions,
): Record<string, string | number> => {
  const { format, readonly, background } = sending
  if (readonly === 1 || statement.bare) return {}
  return {
    log_comment: createLogComment(statement.what),
    max_execution_time: resolveMaxSeconds(statement, sending),
    // Buffered results are parsed here; quoted integers keep the digits that a JSON number would lose.
    output_format_json_quote_64bit_integers: format === 'JSONCompact' ? 1 : 0,
    cancel_http_readonly_queries_on_client_close: 1,
    ...(background && { max_threads: backgroundThreads, priority: backgroundPriority }),
    ...statement.limits,
    ...(readonly === 0 && !statement.writes && { readonly: 1 }),
  }
}

/** Returns a value in the `Escaped` format, which ClickHouse expects for query parameters. */
const escapeParameter = (value: StatementParameters[string]): string => {
  if (value === null) return String.raw`\N`
  // ClickHouse reads the quoted items of an array without removing the escapes of the format first.
  if (typeof value === 'object')
    return `[${value.map((item) => `'${item.replaceAll(/['\\]/g, String.raw`\$&`)}'`).join(',')}]`
  if (typeof value === 'boolean') return value ? '1' : '0'
  return String(value).replace(/[\\\t\n\r\0\b\f]/g, (character) => escapes[character] ?? character)
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
}
