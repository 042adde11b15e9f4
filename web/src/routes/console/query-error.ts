import { getFailureMessage, RequestFailure, findUnreachableHost } from '#lib/api/failure.ts'

/** The failure of a statement, as the console shows it. */
export interface QueryError {
  /** Whether the service rejected the statement without sending it to the host. */
  isRejected: boolean
  message: string
  /** A remedy. Empty if the message is sufficient. */
  hint: string
  /** The offset of the error in the statement; null if it is unknown. */
  position: number | null
}

/** Converts a thrown error to the failure of a statement. */
export const toQueryError = (thrown: unknown, sql: string): QueryError => {
  const message = getFailureMessage(thrown)
  const { position, reason } = thrown instanceof RequestFailure ? thrown.details : {}
  // The failure of an unreachable host also has a reason, but the service did not reject the statement.
  const isRejected = typeof reason === 'string' && findUnreachableHost(thrown) === null
  return {
    isRejected,
    message: isRejected ? formatMessage(message) : message,
    hint: reason === 'first-word' ? getHint(sql) : '',
    position: typeof position === 'number' ? position : findErrorOffset(message, sql),
  }
}

/** Removes the parameter name from the message and makes it a sentence. */
const formatMessage = (message: string): string => {
  const rest = message.replace(/^query: /, '')
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`
}

const getHint = (sql: string): string =>
  /^\s*(?:show|exists)\b/i.test(sql)
    ? 'SHOW is not supported. Query the system tables instead: system.tables (create_table_query has the definition), system.processes, system.grants, system.users, system.settings or system.databases.'
    : 'The console is read-only, to prevent accidental changes.'

/** Returns the offset of an unknown name in the statement; null unless the name occurs exactly once. */
const findErrorOffset = (message: string, sql: string): number | null => {
  const name = /\b(?:identifier|function|table) [`']?(?<name>[\w.]+)/i.exec(message)?.groups?.['name']
  if (!name) return null
  const places = [
    ...sql.matchAll(new RegExp(String.raw`(?<![\w.])${name.replaceAll('.', String.raw`\.`)}(?![\w.])`, 'g')),
  ]
  return places.length === 1 ? (places[0]?.index ?? null) : null
}
