import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'

/** What the handlers work with. */
export interface Parts {
  env: Environment
  clock: Clock
  query: Client<typeof query>
}
