import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { type BroughtHosts, openBroughtHosts } from './brought-hosts.ts'
import { type Keys, openKeys } from './keys.ts'
import { openSealing, type Sealing } from './sealed-content.ts'

/** All that has to do with databases that people bring. */
export interface Connections extends Disposable {
  net: Net
  keys: Keys
  sealing: Sealing
  brought: BroughtHosts
}

/** What handlers work with that serve them. */
export interface WithConnections {
  connections: Connections
}

interface Place {
  env: Environment
  store: Store
  net: Net
  client: DatabaseClient
  clock: Clock
}

export const openConnections = ({ env, store, net, client, clock }: Place): Connections => {
  const keys = openKeys(env, store)
  const sealing = openSealing(keys)
  const brought = openBroughtHosts({ sealing, net, client, clock })
  return { net, keys, sealing, brought, [Symbol.dispose]: () => brought[Symbol.dispose]() }
}
