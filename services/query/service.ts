import { query } from '#proto/query.ts'
import { openLoopPressure } from '#shared/admission/loop-pressure.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceStarter } from '#shared/lifecycle/service.ts'
import { openServiceDatabase } from '#shared/store/sql/service-database.ts'
import { openClient } from './clickhouse/client.ts'
import { openLivenessTracker } from './clickhouse/liveness.ts'
import { wrapWithUserConnections, openConnections, addUserConnections } from './connections/connections.ts'
import { readEventsTableName, settings } from './config.ts'
import { openDefinitions } from './definitions/definitions.ts'
import { createHandlers } from './handlers.ts'
import { readRecordedMetrics } from './history/recorded-metrics.ts'
import { openRecorder } from './history/recorder.ts'
import { openHistoryStore } from './history/store.ts'
import { openHosts } from './hosts/hosts.ts'
import { createAddressCheck, openLastValidHostStore } from './hosts/truncation-guard.ts'
import { openManagedHosts } from './managed-hosts/managed-hosts.ts'
import { openPostgresSource } from './postgres-source/source.ts'
import { openProbe } from './status/probe.ts'
import { openReplicationServiceClient } from './repldb/client.ts'

/** Starts the query service, which monitors the hosts and serves requests about them. */
export const start: ServiceStarter = async ({ env, bus, store, net, telemetry, clock, readiness }) => {
  await using opened = new AsyncDisposableStack()
  const { log } = telemetry
  const { SVC_DEFINITIONS_DIRECTORY, SVC_QUERY_ROLE: part } = parseSettings(settings, env)

  const definitions = await openDefinitions(log, SVC_DEFINITIONS_DIRECTORY, undefined, readEventsTableName(env))
  readiness.require('definitions', () => definitions.charts.length > 0)
  const lastGood = openLastValidHostStore(store, env)
  const configured = await openHosts({ env, log, lastGood, answers: createAddressCheck(net) })
  const database =
    part === 'guest' ? undefined : await openServiceDatabase('query', { env, telemetry, readiness }, opened)
  const listed = opened.use(await openManagedHosts({ env, listed: configured, database, net, clock, log }))
  const liveness = openLivenessTracker()
  const pressure = opened.use(openLoopPressure())
  const client = opened.use(openClient({ env, telemetry, clock, liveness, pressure }))
  const probe = opened.use(openProbe({ hosts: listed, client, clock, telemetry, liveness }))
  const connections = opened.use(openConnections({ env, store, net, client, clock }))
  const postgresSource = opened.use(openPostgresSource({ env }))
  const hosts = addUserConnections(listed, connections.user, part)
  const replicationService = openReplicationServiceClient({ env, net, clock })
  const history = opened.use(openHistoryStore({ env, store, log }))
  const sources = { postgresSource, replicationService, history }
  const parts = { env, clock, store, hosts, managedHosts: listed, client, connections, definitions, probe, ...sources }
  const recorded = readRecordedMetrics(SVC_DEFINITIONS_DIRECTORY)
  if (part !== 'guest') opened.use(openRecorder({ ...parts, hosts: listed, recorded, telemetry }))
  opened.use(await bus.serve(query, wrapWithUserConnections(createHandlers(parts), connections.user, part), { part }))

  log.info(
    {
      hosts: hosts.list().length,
      charts: definitions.charts.length,
      tables: definitions.tables.length,
      rules: definitions.rules.length,
    },
    'query started',
  )
  return opened.move()
}
