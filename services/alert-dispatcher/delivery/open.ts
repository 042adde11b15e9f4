import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { type Clock, systemClock } from '#shared/time/clock.ts'
import { problemsOf } from '#shared/config/setting.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { openOutage } from '#shared/telemetry/outage.ts'
import type { Channel } from '../channels/channel.ts'
import { everyChannel as every } from '../channels/index.ts'
import { targetsNow } from '../channels/targets.ts'
import type { FloorsOf } from '../policy/layers/resolve.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { type Delivering, type Notification, openListedHosts } from './delivering.ts'
import { endWithout, targetIsGone } from './end.ts'
import { openChannelDelivery } from './send.ts'
import { type NotifyHandlers, announce } from './announce.ts'
import { type DeliveryHandlers, deliveryHandlers } from './handlers.ts'
import { type ClaimLimits, openHand } from './hand.ts'
import { startOutboxWorker } from './outbox-worker.ts'
import { memoryDeliveries } from './deliveries.ts'
import { isMissed } from './recipients.ts'
import { type RetryPlan, defaultRetryPlan } from './retry.ts'
import { strictDeliverySettings } from './settings.ts'

/** What delivery is opened with; what is optional is the product's own unless a test shortens it. */
export interface DeliveryParts extends Pick<Context, 'env' | 'store' | 'net' | 'telemetry'> {
  query: Client<typeof query>
  /** Where it is kept how deliveries ended; without one that is in memory. */
  database: Database | undefined
  policy(): Promise<Policy>
  /** Ids of the subscriptions of one owner; without it there are none. */
  subscriptionIdsOf?(owner: string): Promise<readonly string[]>
  /** Default: the clock of this machine. */
  pacedBy?: Clock
  channels?: readonly Channel[]
  retry?: RetryPlan
  claims?: ClaimLimits
}

/** As the product claims. */
const defaultClaims: ClaimLimits = { atOnce: 200, claimMs: 10_000 }

/** Tells people what the outbox holds, until disposed: then it finishes the sends that are under way. */
export interface Delivery extends AsyncDisposable {
  handlers: DeliveryHandlers & NotifyHandlers
  /** Whether a target that is to get the notice has not, as far as that is on record. */
  isMissed(notice: Notice): Promise<boolean>
  /** Forgets what is older than its stated age; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** Opens delivery: from now on it delivers whatever the outbox holds. */
export const openDelivery = async (parts: DeliveryParts): Promise<Delivery> => {
  const { env, store, telemetry, channels = every, retry = defaultRetryPlan, claims = defaultClaims } = parts
  const { log } = telemetry
  for (const { name, sentence } of problemsOf(strictDeliverySettings, env)) {
    log.warn({ variable: name, reason: sentence }, 'variable cannot be meant; what is wrong of it counts as unset')
  }
  await using opening = new AsyncDisposableStack()
  const deliveries = await openDeliveries(parts.database)
  // Sends are paced by real time, whichever clock decides what is due.
  const clock = parts.pacedBy ?? systemClock
  const durations = metrics.alertSendDuration(telemetry.metrics)
  const delivering: Delivering = {
    env,
    store,
    net: parts.net,
    policy: parts.policy,
    clock,
    log,
    retry,
    deliveries,
    recording: openOutage(log, { begins: 'deliveries cannot be recorded', ends: 'deliveries are recorded again' }),
    targets: (policy) => targetsNow({ channels, env, policy }),
    hosts: openListedHosts({ query: parts.query, clock }),
    origin: openInstallationId(store),
    observe: (channel, outcome, seconds) => durations.observe({ channel, outcome }, seconds),
  }
  const { claimMs } = claims
  const hand = opening.use(openHand({ ...delivering, outbox: store.outbox, claimMs }))
  const queues = new Map(channels.map((channel) => [channel.id, openChannelDelivery(delivering, hand, channel)]))
  for (const queue of queues.values()) opening.use(queue)
  const add = (notification: Notification) => {
    const queue = queues.get(notification.channel)
    if (queue) return queue.add(notification)
    // Its channel is gone with a release: nobody can be sent this any more.
    void endWithout(delivering, hand, notification, targetIsGone).catch((error: unknown) => {
      hand.forget([notification.message])
      log.warn({ err: error }, 'notification could not be ended; it comes again')
    })
    return true
  }
  opening.use(startOutboxWorker({ delivering, hand, limits: claims, add }))
  const running = opening.move()
  const subscriptionIdsOf = parts.subscriptionIdsOf ?? (async () => [])
  return {
    handlers: { ...deliveryHandlers({ ...delivering, subscriptionIdsOf }), notify: announce(delivering) },
    isMissed: (notice) => isMissed(delivering, notice),
    prune: (beforeMs) => deliveries.prune(beforeMs),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const openDeliveries = async (database: Database | undefined) => {
  if (!database) return memoryDeliveries()
  const { sqlDeliveries } = await import('./sql-deliveries.ts')
  return sqlDeliveries(database)
}

/** The floors of all targets that have what they need. */
export const floorsOf =
  (env: Context['env'], channels: readonly Channel[] = every): FloorsOf =>
  (reached) =>
    targetsNow({ channels, env, policy: reached }).map(({ minSeverity }) => minSeverity)
