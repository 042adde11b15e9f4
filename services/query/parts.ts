import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from './clickhouse/client.ts'
import type { Definitions } from './definitions/definitions.ts'
import type { Hosts } from './hosts/hosts.ts'
import type { Probe } from './status/probe.ts'

/** Dependencies that all handlers share. */
export interface Parts {
  env: Environment
  clock: Clock
  hosts: Hosts
  client: DatabaseClient
  definitions: Definitions
  probe: Probe
}
