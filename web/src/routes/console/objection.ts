import { failureMessage, RequestFailure, silentHost } from '#lib/api/failure.ts'

/** What is wrong with a statement. */
export interface Objection {
  /** Whether it was not even sent to the host. */
  isRefused: boolean
  message: string
  /** What somebody may do instead; empty where that is clear. */
  hint: string
  /** The place in the statement; null where none is to blame. */
  position: number | null
}

/** Why a statement gave no rows, in words and in its text. */
export const objectionOf = (thrown: unknown, sql: string): Objection => {
  const message = failureMessage(thrown)
  const { position, reason } = thrown instanceof RequestFailure ? thrown.details : {}
  // A host that does not answer is told with a reason too.
  const isRefused = typeof reason === 'string' && silentHost(thrown) === null
  return {
    isRefused,
    message: isRefused ? sentence(message) : message,
    hint: reason === 'first-word' ? hintFor(sql) : '',
    position: typeof position === 'number' ? position : placeOf(message, sql),
  }
}

/** The service names the parameter first, of which this page has one. */
const sentence = (message: string): string => {
  const rest = message.replace(/^query: /, '')
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`
}

const hintFor = (sql: string): string =>
  /^\s*(?:show|exists)\b/i.test(sql)
    ? 'What SHOW tells can be selected: tables and their definitions (create_table_query) from system.tables, what runs from system.processes, and grants, users, settings and databases from the tables of these names in system.'
    : 'Statements here only read, so that nobody changes data by a slip.'

/** Where a name stands that the host does not know, if it stands there once. */
const placeOf = (message: string, sql: string): number | null => {
  const name = /\b(?:identifier|function|table) [`']?(?<name>[\w.]+)/i.exec(message)?.groups?.['name']
  if (!name) return null
  const places = [
    ...sql.matchAll(new RegExp(String.raw`(?<![\w.])${name.replaceAll('.', String.raw`\.`)}(?![\w.])`, 'g')),
  ]
  return places.length === 1 ? (places[0]?.index ?? null) : null
}
