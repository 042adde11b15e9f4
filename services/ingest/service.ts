import { ingest } from '#proto/ingest.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceStarter } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import { openServiceDatabase } from '#shared/store/sql/service-database.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { createAcceptHandler } from './accept.ts'
import { settings } from './config.ts'
import { consumeEvents } from './consume.ts'
import { createDeadEventHandlers } from './dead-events.ts'
import { createDeploymentHandlers, getRetentionStartMs, openDeploymentStore } from './deployments.ts'
import { openEventStore } from './events.ts'
import { createSnsReader } from './sns.ts'

const dayMs = 86_400_000

/** Starts `ingest`: accepts events of other systems into the queue, then stores and forwards them. */
export const start: ServiceStarter = async ({ env, bus, store, clock, net, telemetry, readiness, openQueue }) => {
  await using opened = new AsyncDisposableStack()
  const { log, metrics: registry } = telemetry
  const database = await openServiceDatabase('ingest', { env, telemetry, readiness }, opened)
  const events = await openEventStore(database)
  const deployments = await openDeploymentStore(database)
  const queue = opened.use(await openQueue())
  readiness.require(
    'ingest queue',
    () => queue.connected,
    () => queue.problem,
  )
  const origin = openInstallationId(store)
  const accepted = metrics.eventsReceived(registry)
  const forwarded = metrics.eventsReemitted(registry)
  const reemitDeps = { env, send: net.guarded('reemit'), clock, log, origin }
  const openEnvelope = createSnsReader({ send: net.guarded('event-source'), clock, log })
  const observe = {
    accepted: (adapter: string, outcome: string) => accepted.inc({ adapter, outcome }),
    forwarded: (outcome: string) => forwarded.inc({ outcome }),
  }
  opened.use(await consumeEvents(queue, events, { ...reemitDeps, observe: observe.forwarded }))
  opened.use(
    await bus.serve(ingest, {
      accept: createAcceptHandler({ queue, store, clock, origin, openEnvelope, observe: observe.accepted }),
      events: (filter) => events.list(filter),
      ...createDeadEventHandlers(queue),
      ...createDeploymentHandlers({ deployments, env, clock }),
      prune: async () => ({
        removed: {
          events: await events.prune(clock.now() - parseSettings(settings, env).SVC_EVENTS_DAYS * dayMs),
          deployments: await deployments.prune(getRetentionStartMs({ env, clock })),
        },
      }),
    }),
  )
  log.info({ persistent: database !== undefined }, 'ingest started')
  return opened.move()
}
