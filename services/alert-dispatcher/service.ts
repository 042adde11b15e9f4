import { alerts } from '#proto/alerts.ts'
import { query } from '#proto/query.ts'
import type { Context, Running, Start } from '#shared/lifecycle/service.ts'
import { channels } from './channels/index.ts'
import { openChatApplication } from './chat-application/open.ts'
import { floorsOf, openDelivery } from './delivery/open.ts'
import { consumeEvents } from './events/consume.ts'
import { handlers } from './handlers.ts'
import { fileLayer } from './policy/health-d/read.ts'
import { openObserve } from './sweeps/observe.ts'
import { openPolicy } from './policy/open-policy.ts'
import { openWarnings } from './policy/warnings.ts'
import { openSchedule } from './sweeps/schedule.ts'
import { openStores } from './stores/open.ts'
import { openSubscriptions } from './subscriptions/open.ts'

/** Sweeps the hosts, keeps the state of every condition and tells the people concerned. */
export const start: Start = (context) => startWith(context)

/** Starts the dispatcher with a time between ticks of its own. */
export const startWith = async (context: Context, tickEveryMs?: number): Promise<Running> => {
  await using opened = new AsyncDisposableStack()
  const { env, bus, clock } = context
  const { log } = context.telemetry
  const { stores, database } = opened.use(await openStores(env, log))
  const subscriptions = opened.use(await openSubscriptions({ env, clock, log }))
  const chatApplication = await openChatApplication({ env, database, clock, log })
  const policy = openPolicy({
    env,
    store: stores.policy,
    file: fileLayer(env, log, channels),
    floorsOf: floorsOf(env),
    subscriptions: subscriptions.current,
    chatApplications: chatApplication.current,
    clock,
    log,
  })
  const asking = { ...context, query: bus.client(query) }
  const { idsOf: subscriptionIdsOf } = subscriptions
  const delivery = opened.use(await openDelivery({ ...asking, database, policy: policy.current, subscriptionIdsOf }))
  const { episodes, eventEpisodes, lasting: isLasting } = stores
  const kept = { episodes, eventEpisodes, isLasting, isMissed: delivery.isMissed }
  const warns = await openWarnings(env, log, policy)
  const sweeping = { ...asking, ...kept, ...warns, policy: policy.current, observe: openObserve(context) }
  opened.use(await consumeEvents({ ...sweeping, queue: opened.use(await context.openQueue()) }))
  const schedule = openSchedule(sweeping, tickEveryMs)
  opened.use(
    await bus.serve(
      alerts,
      handlers({ ...asking, stores, policy, delivery, schedule, subscriptions, chatApplication }),
    ),
  )
  // Ended before the calls that wait for a sweep are.
  opened.use(schedule)
  log.info({ lasting: stores.lasting }, 'alert-dispatcher serves')
  return opened.move()
}
