import type { alertingMethods } from '#proto/alerting.ts'
import type { ServiceClient, ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { TransitKeyPair } from '#shared/seal/transit.ts'
import type { Store } from '#shared/store/store.ts'
import type { PolicyProvider } from './policy/open-policy.ts'
import type { SaveNetwork } from './policy/saved-channels/save-channel.ts'
import type { DispatcherStores } from './stores/stores.ts'

/** Dependencies of the alerting handlers. */
export interface AlertingDeps {
  env: Environment
  clock: Clock
  store: Store
  stores: DispatcherStores
  query: ServiceClient<typeof query>
  net: SaveNetwork
  policy: PolicyProvider
  transit: TransitKeyPair
}

export type AlertingHandlers = ServiceHandlers<Service<typeof alertingMethods>>

/** Throws `not-implemented` unless a state database is configured; `what` names the rejected operation in the error. */
export const requireStateDatabase = ({ isPersistent }: DispatcherStores, what: string): void => {
  if (isPersistent) return
  throw new ServiceError(
    'not-implemented',
    `${what} requires a state database; set SVC_STATE_DB_URL, or use files and variables`,
  )
}
