import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'

/** Returns a count with its noun: `1 row`, `2 rows`. */
export const formatCountedNoun = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

const maxNames = 5

/** Returns the first names of a list and the number of the others. */
export const formatNames = (names: readonly string[]): string => {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown
}

const unknownTable = 60
const accessDenied = 497

/**
 * Returns why a system table of a host is unavailable: it does not exist, or the user of the connection may not read
 * it. Returns undefined for all other errors.
 */
export const findUnavailableReason = (error: unknown, { name }: Host, table: string): string | undefined => {
  const code = error instanceof ServiceError ? error.details?.clickhouseCode : undefined
  if (code === unknownTable) return `table ${table} does not exist on host ${name}`
  return code === accessDenied
    ? `table ${table} is not readable on host ${name}; run GRANT SELECT ON ${table}`
    : undefined
}

/** Returns why the query log is unavailable. Rethrows all other errors. */
export const explainMissingQueryLog = (error: unknown, host: Host): string => {
  const reason = findUnavailableReason(error, host, 'system.query_log')
  if (reason === undefined) throw error
  return reason
}
