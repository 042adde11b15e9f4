import type { adviceMethods } from '#proto/advice.ts'
import type { Client, Handlers, Service } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { advise } from './advise.ts'

/** What the handlers work with. */
export interface Parts {
  env: Environment
  clock: Clock
  query: Client<typeof query>
}

/** One file per method of the contract. */
export const handlers = (parts: Parts): Handlers<Service<typeof adviceMethods>> => ({
  advise: advise(parts),
})
