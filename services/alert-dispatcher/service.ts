import { alerts } from '#proto/alerts.ts'
import { query } from '#proto/query.ts'
import type { ServiceContext, RunningService, ServiceStarter } from '#shared/lifecycle/service.ts'
import { reportProblem } from '#shared/lifecycle/readiness.ts'
import { channels } from './channels/index.ts'
import { openChatApplication } from './chat-application/open-chat-application.ts'
import { createMinSeverityLister, openDelivery } from './delivery/open-delivery.ts'
import { consumeEvents } from './events/consume.ts'
import { createDispatcherHandlers } from './handlers.ts'
import { loadFileLayer } from './policy/health-d/health-files.ts'
import { openSweepMetrics } from './sweeps/sweep-metrics.ts'
import { openPolicy } from './policy/open-policy.ts'
import { createPolicyWarnings } from './policy/warnings.ts'
import { openSweepSchedule } from './sweeps/schedule.ts'
import { openStores } from './stores/open-stores.ts'
import { openSubscriptions } from './subscriptions/open-subscriptions.ts'

/** Starts the dispatcher: sweeps, inbound events, notifications and the alert API. */
export const start: ServiceStarter = (context) => startWithTickInterval(context)

/** Starts the dispatcher with a custom tick interval, for tests. */
export const startWithTickInterval = async (context: ServiceContext, tickEveryMs?: number): Promise<RunningService> => {
  await using opened = new AsyncDisposableStack()
  const { env, bus, clock, readiness } = context
  const { log } = context.telemetry
  const { stores, database } = opened.use(await openStores(env, log))
  if (database) reportProblem(readiness, 'alert database', () => database.problem)
  const subscriptions = opened.use(await openSubscriptions({ env, clock, log }))
  const chatApplication = await openChatApplication({ env, database, clock, log })
  const policy = openPolicy({
    env,
    store: stores.policy,
    file: loadFileLayer(env, log, channels),
    minSeveritiesOf: createMinSeverityLister(env),
    subscriptions: subscriptions.current,
    chatApplications: chatApplication.current,
    clock,
    log,
  })
  const shared = { ...context, query: bus.client(query) }
  const { idsOf: subscriptionIdsOf } = subscriptions
  const delivery = opened.use(await openDelivery({ ...shared, database, policy: policy.current, subscriptionIdsOf }))
  const { episodes, eventEpisodes, isPersistent } = stores
  const episodeDeps = { episodes, eventEpisodes, isPersistent, isMissed: delivery.isMissed }
  const warns = await createPolicyWarnings(env, log, policy)
  const sweepDeps = { ...shared, ...episodeDeps, ...warns, policy: policy.current, observe: openSweepMetrics(context) }
  opened.use(await consumeEvents({ ...sweepDeps, queue: opened.use(await context.openQueue()) }))
  const schedule = openSweepSchedule(sweepDeps, tickEveryMs)
  opened.use(
    await bus.serve(
      alerts,
      createDispatcherHandlers({ ...shared, stores, policy, delivery, schedule, subscriptions, chatApplication }),
    ),
  )
  // The schedule is disposed before the bus stops serving, because calls wait for sweeps.
  opened.use(schedule)
  log.info({ persistent: isPersistent }, 'alert-dispatcher started')
  return opened.move()
}
