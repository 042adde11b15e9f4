import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'

/** A number of things in words: `1 row`, `2 rows`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

const unknownTable = 60
const accessDenied = 497

/**
 * Why a host tells nothing of one of its own tables, when that is what a statement failed for: it may keep none, or not show it to our
 * user, and neither is a mistake of whoever asks. Undefined for every other failure.
 */
export const whyUntold = (error: unknown, { name }: Host, table: string): string | undefined => {
  const code = error instanceof ServiceError ? error.details?.clickhouseCode : undefined
  if (code === unknownTable) return `${name} keeps none of it: the table ${table} is not there`
  return code === accessDenied ? `${table} of ${name} is closed to us: GRANT SELECT ON ${table} opens it` : undefined
}

/** The same of the query log; throws every other failure. */
export const whyNoQueryLog = (error: unknown, host: Host): string => {
  const why = whyUntold(error, host, 'system.query_log')
  if (why === undefined) throw error
  return why
}
