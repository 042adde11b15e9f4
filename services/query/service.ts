import { query } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import type { Start } from '#shared/service.ts'
import { openClient } from './clickhouse/client.ts'
import { openSilence } from './clickhouse/silence.ts'
import { admitting, withBrought } from './connections/admitting.ts'
import { openConnections } from './connections/connections.ts'
import { settings } from './config.ts'
import { openDefinitions } from './definitions/definitions.ts'
import { handlers } from './handlers/index.ts'
import { openHosts } from './hosts/hosts.ts'
import { openPostgresSource } from './postgres-source/source.ts'
import { openProbe } from './probe.ts'
import { openReplicationService } from './repldb/client.ts'

/** Watches the hosts and answers questions about them. */
export const start: Start = async ({ env, bus, store, net, telemetry, clock, readiness }) => {
  await using opened = new AsyncDisposableStack()
  const { log } = telemetry
  const { SVC_DEFINITIONS_DIRECTORY, EVENTS_TABLE_NAME, SVC_QUERY_ROLE: part } = read(settings, env)

  const definitions = await openDefinitions(log, SVC_DEFINITIONS_DIRECTORY, undefined, EVENTS_TABLE_NAME)
  readiness.require('definitions', () => definitions.charts.length > 0)
  const listed = opened.use(await openHosts({ env, log }))
  const silence = openSilence()
  const client = opened.use(openClient({ env, telemetry, clock, silence }))
  const probe = opened.use(openProbe({ hosts: listed, client, clock, telemetry, silence }))
  const connections = opened.use(openConnections({ env, store, net, client, clock }))
  const postgresSource = opened.use(openPostgresSource({ env }))
  const hosts = withBrought(listed, connections.brought, part)
  const replicationService = openReplicationService({ env, net, clock })
  const sources = { postgresSource, replicationService }
  const parts = { env, clock, store, hosts, client, connections, definitions, probe, ...sources }
  opened.use(await bus.serve(query, admitting(handlers(parts), connections.brought, part), { part }))

  log.info(
    {
      hosts: hosts.list().length,
      charts: definitions.charts.length,
      tables: definitions.tables.length,
      rules: definitions.rules.length,
    },
    'query serves',
  )
  return opened.move()
}
