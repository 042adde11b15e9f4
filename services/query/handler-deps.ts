import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from './clickhouse/client.ts'
import type { Definitions } from './definitions/definitions.ts'
import type { HistoryStore } from './history/store.ts'
import type { HostRegistry } from './hosts/hosts.ts'
import type { Probe } from './status/probe.ts'

/** Dependencies that all handlers share. */
export interface QueryHandlerDeps {
  env: Environment
  clock: Clock
  hosts: HostRegistry
  client: DatabaseClient
  definitions: Definitions
  probe: Probe
  history: HistoryStore
}
