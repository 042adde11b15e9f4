import { ServiceError } from '#proto/errors.ts'
import type { CacheClass } from '#proto/catalogue.ts'
import { commentOf } from '#shared/sql/own-statements.ts'

/** Room for bound values in the address of a request; servers take about a megabyte, proxies much less. */
const maxParameterBytes = 48 * 1024

export type ParameterValue = string | number | boolean | null

/** Something to ask a host. `what` names the asker's part of the product and ends up in the host's `log_comment`. */
export interface Statement {
  what: string
  sql: string
  parameters?: Readonly<Record<string, ParameterValue>>
  /** An answer of this class may be reused; absent means never. */
  cache?: CacheClass
  /** It is read where readers wait and hosts are many, so it goes over connections that cost less than the official client. */
  hot?: true
  /** Sent without any setting, because settings are what it shows. */
  bare?: boolean
  /** A shorter time limit than `COLUMNDB_MAX_EXECUTION_TIME`; of what writes, the limit itself. */
  maxSeconds?: number
  /** It waits for the host's Keeper, so it gets no longer than `keeperSeconds`, and its failure says what it waited for. */
  readsKeeper?: boolean
  /** What a host says to it is known to be short: a longer answer is no answer, and is not read to its end. */
  short?: true
  /** Limits sent besides, where the user's profile lets settings be sent at all. */
  limits?: Readonly<Record<string, string | number>>
  /** It changes the host. Never shared with others who ask the same, nor answered from a cache. */
  writes?: true
  /** Where names without a database are looked up. */
  database?: string
  /** Statements of one session, sent one after another, share what exists for a session only. */
  session?: string
}

const backgroundSeconds = 10
/** A server that waits for a Keeper which hangs heeds no limit of its own, and would wait for minutes. */
const keeperSeconds = 10
const backgroundThreads = 2
/** ClickHouse runs lower numbers first; 0 is what people's statements have. */
const backgroundPriority = 10

/** Formats whose bytes pass through. */
export type StreamFormat =
  | 'JSONEachRow'
  | 'CSVWithNames'
  | 'TabSeparatedWithNames'
  | 'JSONCompactEachRowWithNamesAndTypes'

export interface Sending {
  format: 'JSONCompact' | StreamFormat
  /** The `readonly` setting of the user's profile; 1 forbids every setting. */
  readonly: number
  /** What `COLUMNDB_MAX_EXECUTION_TIME` allows. */
  maxExecutionSeconds: number
  /** Nobody waits for it in person, so it yields on the host: fewer threads, low priority, 10 seconds at most. */
  background: boolean
}

/** How long the host may work on a statement. */
export const secondsFor = (
  statement: Statement,
  { maxExecutionSeconds, background }: Pick<Sending, 'maxExecutionSeconds' | 'background'>,
): number =>
  (statement.writes && statement.maxSeconds) ||
  Math.min(
    maxExecutionSeconds,
    statement.maxSeconds ?? Infinity,
    statement.readsKeeper ? keeperSeconds : Infinity,
    background ? backgroundSeconds : Infinity,
  )

/** Path and query of the request that carries a statement; the SQL itself is the body. */
export const requestPath = (base: URL, statement: Statement, queryId: string, sending: Sending): string => {
  const { database, session } = statement
  const own = base.search === '' ? '' : `${base.search.slice(1)}&`
  // A UUID, in which there is nothing to encode.
  let query = `${own}query_id=${queryId}&default_format=${sending.format}`
  const add = (name: string, value: string): void => {
    query += pairOf(name, value)
  }
  if (database !== undefined) add('database', database)
  if (session !== undefined) add('session_id', session)
  query += settingsText(statement, sending)
  for (const [name, value] of Object.entries(boundParameters(statement))) add(name, value)
  return `${base.pathname}?${query}`
}

/** Bound values by their names in the address of a request. Throws `too-large` where they do not fit into it. */
export const boundParameters = ({ parameters = {} }: Statement): Record<string, string> => {
  let bytes = 0
  const bound: Record<string, string> = {}
  for (const [name, value] of Object.entries(parameters)) {
    const text = escaped(value)
    bytes += Buffer.byteLength(text)
    bound[`param_${name}`] = text
  }
  if (bytes > maxParameterBytes)
    throw new ServiceError('too-large', 'the filters are too long; use fewer or shorter values')
  return bound
}

const pairOf = (name: string, value: string): string => `&${encoded(name)}=${encoded(value)}`

/** JSON can spell half a character, which has no form in UTF-8. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** How a statement was sent last, and its settings as the address has them. */
interface SentLast extends Sending {
  text: string
}

/** A memory of a pure function only: what is sent to many hosts is mostly sent to all of them in the same way. */
const sentLast = new WeakMap<Statement, SentLast>()

const settingsText = (statement: Statement, sending: Sending): string => {
  const { format, readonly, maxExecutionSeconds, background } = sending
  const last = sentLast.get(statement)
  const isSame =
    last?.format === format &&
    last.readonly === readonly &&
    last.maxExecutionSeconds === maxExecutionSeconds &&
    last.background === background
  if (isSame) return last.text
  const pairs = Object.entries(settingsOf(statement, sending))
  const text = pairs.map(([name, value]) => pairOf(name, String(value))).join('')
  sentLast.set(statement, { format, readonly, maxExecutionSeconds, background, text })
  return text
}

export const settingsOf = (statement: Statement, sending: Sending): Record<string, string | number> => {
  const { format, readonly, background } = sending
  if (readonly === 1 || statement.bare) return {}
  return {
    log_comment: commentOf(statement.what),
    max_execution_time: secondsFor(statement, sending),
    // Whole answers are parsed here, where a quoted integer keeps digits that a JSON number would lose.
    output_format_json_quote_64bit_integers: format === 'JSONCompact' ? 1 : 0,
    cancel_http_readonly_queries_on_client_close: 1,
    ...(background && { max_threads: backgroundThreads, priority: backgroundPriority }),
    ...statement.limits,
    ...(readonly === 0 && !statement.writes && { readonly: 1 }),
  }
}

/** The `Escaped` form in which ClickHouse reads a bound parameter. */
const escaped = (value: ParameterValue): string => {
  if (value === null) return String.raw`\N`
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
