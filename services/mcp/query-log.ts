import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'

const unknownTable = 60
const accessDenied = 497

/**
 * Why the query log of a host tells nothing, when that is what a statement on it failed for: a host may keep none, or not show it to
 * our user, and neither is a mistake of whoever asks. Throws every other failure.
 */
export const whyNoQueryLog = (error: unknown, { name }: Host): string => {
  const code = error instanceof ServiceError ? error.details?.clickhouseCode : undefined
  if (code === unknownTable) return `${name} keeps no query log: the table system.query_log is not there`
  if (code === accessDenied)
    return `the query log of ${name} is closed to us: GRANT SELECT ON system.query_log opens it`
  throw error
}
