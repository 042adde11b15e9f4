import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { CallContext } from '#proto/call.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openStateDatabase } from '#shared/store/sql/state-database.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { wrapWithUserConnections, openConnections, addUserConnections } from '../connections/connections.ts'
import { openClient } from '../clickhouse/client.ts'
import { openLivenessTracker } from '../clickhouse/liveness.ts'
import { openDefinitions } from '../definitions/definitions.ts'
import { createHandlers } from '../handlers.ts'
import { openHistoryStore } from '../history/store.ts'
import { openHosts } from '../hosts/hosts.ts'
import { openManagedHosts } from '../managed-hosts/managed-hosts.ts'
import { openPostgresSource } from '../postgres-source/source.ts'
import { openProbe } from '../status/probe.ts'
import { openReplicationServiceClient } from '../repldb/client.ts'

/** Returns telemetry without log output or an exporter. */
export const createSilentTelemetry = (): Telemetry => ({
  log: pino({ level: 'silent' }),
  metrics: new Registry(),
  tracer: noopTracers.tracer('query'),
})

/** Returns a call of a user with all features and a deadline of 30 seconds. */
export const createCall = (call: Partial<CallContext> = {}): CallContext => ({
  identity: { kind: 'user', subject: 'tester', features: 'all' },
  deadline: performance.now() + 30_000,
  signal: new AbortController().signal,
  priority: 'person',
  ...call,
})

/** Returns settings for one server as two hosts: `box` with the default user, `careful` with a read-only user. */
export const createTwoUserSettings = (url: string) => ({
  COLUMNDB_HOST: [url, url].join(','),
  COLUMNDB_NAME: 'box,careful',
  COLUMNDB_USER: 'default,analyst',
  COLUMNDB_PASSWORD: ',analyst',
})

/** Opens the service without a bus, for the host list in `env`. */
export const openTestService = async (env: Record<string, string | undefined>) => {
  const telemetry = createSilentTelemetry()
  const opened = new AsyncDisposableStack()
  const { log } = telemetry
  const definitions = await openDefinitions(log)
  const store = opened.use(await openStore({ env, busIsShared: false }))
  const net = opened.use(openNet({ env }))
  const database = opened.use(await openStateDatabase(env, log))
  const configured = await openHosts({ env, log })
  const listed = opened.use(
    await openManagedHosts({ env, listed: configured, database, net, clock: systemClock, log, recheckEveryMs: 50 }),
  )
  const liveness = openLivenessTracker()
  const client = opened.use(openClient({ env, telemetry, clock: systemClock, liveness }))
  const probe = opened.use(openProbe({ hosts: listed, client, clock: systemClock, telemetry, liveness }))
  const connections = opened.use(openConnections({ env, store, net, client, clock: systemClock }))
  const postgresSource = opened.use(openPostgresSource({ env }))
  const hosts = addUserConnections(listed, connections.user, 'all')
  const clock = systemClock
  const history = opened.use(openHistoryStore({ env, store, log }))
  const sources = { postgresSource, history, replicationService: openReplicationServiceClient({ env, net, clock }) }
  const parts = { env, clock, store, hosts, managedHosts: listed, client, connections, definitions, probe, ...sources }
  return {
    ...parts,
    handlers: wrapWithUserConnections(createHandlers(parts), connections.user, 'all'),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export type TestService = Awaited<ReturnType<typeof openTestService>>
