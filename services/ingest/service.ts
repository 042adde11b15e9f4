import { ingest } from '#proto/ingest.ts'
import { read } from '#shared/config/setting.ts'
import type { Start } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import { openStateDatabase } from '#shared/store/sql/open-state-database.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { accept } from './accept.ts'
import { settings } from './config.ts'
import { consumeEvents } from './consume.ts'
import { deadEventHandlers } from './dead-events.ts'
import { deploymentHandlers, forgottenBeforeMs, openDeployments } from './deployments.ts'
import { openEvents } from './events.ts'

const dayMs = 86_400_000

/** Takes events of other systems into the queue; from there they are kept, and handed on where the operator says so. */
export const start: Start = async ({ env, bus, store, clock, net, telemetry, readiness, openQueue }) => {
  await using opened = new AsyncDisposableStack()
  const { log, metrics: registry } = telemetry
  const database = await openStateDatabase(env, log)
  if (database) opened.use(database)
  const events = await openEvents(database)
  const deployments = await openDeployments(database)
  const queue = opened.use(await openQueue())
  readiness.require(
    'ingest queue',
    () => queue.connected,
    () => queue.problem,
  )
  const origin = openInstallationId(store)
  const taken = metrics.eventsTaken(registry)
  const handedOn = metrics.eventsReemitted(registry)
  const reemitting = { env, send: net.guarded('reemit'), clock, log, origin }
  const observe = {
    taken: (adapter: string, outcome: string) => taken.inc({ adapter, outcome }),
    handedOn: (outcome: string) => handedOn.inc({ outcome }),
  }
  opened.use(await consumeEvents(queue, events, { ...reemitting, observe: observe.handedOn }))
  opened.use(
    await bus.serve(ingest, {
      accept: accept({ queue, store, clock, origin, observe: observe.taken }),
      events: (filter) => events.list(filter),
      ...deadEventHandlers(queue),
      ...deploymentHandlers({ deployments, env, clock }),
      prune: async () => ({
        removed: {
          events: await events.prune(clock.now() - read(settings, env).SVC_EVENTS_DAYS * dayMs),
          deployments: await deployments.prune(forgottenBeforeMs({ env, clock })),
        },
      }),
    }),
  )
  log.info({ lasting: database !== undefined }, 'ingest serves')
  return opened.move()
}
