import { ServiceError } from '#proto/errors.ts'
import type { Stores } from './stores/stores.ts'

/** Throws `not-implemented` for what would be forgotten with the process. */
export const requireLasting = ({ lasting }: Stores, what: string): void => {
  if (lasting) return
  throw new ServiceError(
    'not-implemented',
    `${what} needs a state database: set SVC_STATE_DB_URL; files and variables apply without one`,
  )
}
