import type { ServiceClient } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { type Clock, systemClock } from '#shared/time/clock.ts'
import { findSettingProblems } from '#shared/config/setting.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openOutageLog } from '#shared/telemetry/outage.ts'
import type { Channel } from '../channels/channel.ts'
import { allChannels as every } from '../channels/index.ts'
import { listEnabledTargets } from '../channels/targets.ts'
import type { MinSeverityLister } from '../policy/layers/resolve.ts'
import type { Notification } from '../notification.ts'
import type { Policy } from '../policy.ts'
import { type DeliveryDeps, type PendingDelivery, createHostListCache } from './delivery-deps.ts'
import { endWithoutSend, missingTargetResult } from './send-result.ts'
import { openChannelDelivery } from './send.ts'
import { openSendDurations, type SendDurations } from './send-durations.ts'
import { type NotifyHandlers, createNotifyHandler } from './announce.ts'
import { type DeliveryHandlers, createDeliveryHandlers } from './handlers.ts'
import { type ClaimLimits, openClaims } from './claims.ts'
import { startOutboxWorker } from './outbox-worker.ts'
import { createMemoryDeliveries } from './deliveries.ts'
import { createRecentChangesReader } from './recent-changes.ts'
import { hasMissingDelivery } from './recipients.ts'
import { type RetryPlan, defaultRetryPlan } from './retry.ts'
import { strictDeliverySettings } from './settings.ts'

/** Dependencies of delivery; optional fields default to production values. */
export interface OpenDeliveryDeps extends Pick<ServiceContext, 'env' | 'store' | 'net' | 'telemetry'> {
  query: ServiceClient<typeof query>
  /** Database for delivery records; without it they stay in memory. */
  database: Database | undefined
  policy(): Promise<Policy>
  /** Returns the subscription ids of an owner; default: none. */
  subscriptionIdsOf?(owner: string): Promise<readonly string[]>
  /** Clock for the rate limits; default: the system clock. */
  rateLimitClock?: Clock
  channels?: readonly Channel[]
  retry?: RetryPlan
  claims?: ClaimLimits
}

const defaultClaims: ClaimLimits = { atOnce: 200, claimMs: 10_000 }

/** Delivers notifications from the outbox until disposed; disposal waits for sends in progress. */
export interface Delivery extends AsyncDisposable {
  handlers: DeliveryHandlers & NotifyHandlers
  /** Returns whether a target that should have received the notification has no stored delivery. */
  isMissed(notification: Notification): Promise<boolean>
  /** Deletes delivery records from before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Opens delivery and starts to process the outbox. */
export const openDelivery = async (parts: OpenDeliveryDeps): Promise<Delivery> => {
  const { env, store, telemetry, channels = every, retry = defaultRetryPlan, claims: limits = defaultClaims } = parts
  const { log } = telemetry
  for (const { name, sentence } of findSettingProblems(strictDeliverySettings, env)) {
    log.warn({ variable: name, reason: sentence }, 'invalid setting ignored')
  }
  await using opening = new AsyncDisposableStack()
  const deliveries = await openDeliveries(parts.database)
  // Rate limits use real time, even if another clock decides what is due.
  const clock = parts.rateLimitClock ?? systemClock
  const durations = openSendDurations(telemetry.metrics)
  const targets = createTargetLister({ channels, env, durations })
  const deps: DeliveryDeps = {
    env,
    store,
    net: parts.net,
    policy: parts.policy,
    clock,
    log,
    retry,
    deliveries,
    recording: openOutageLog(log, { begins: 'recording deliveries failed', ends: 'recording deliveries recovered' }),
    targets,
    hosts: createHostListCache({ query: parts.query, clock }),
    recentChanges: createRecentChangesReader({ env, query: parts.query, clock }),
    origin: openInstallationId(store),
    observe: durations.observe,
  }
  const claims = opening.use(openClaims({ ...deps, outbox: store.outbox, claimMs: limits.claimMs }))
  const queues = new Map(channels.map((channel) => [channel.id, openChannelDelivery(deps, claims, channel)]))
  for (const queue of queues.values()) opening.use(queue)
  const add = (delivery: PendingDelivery) => {
    const queue = queues.get(delivery.channel)
    if (queue) return queue.add(delivery)
    // The channel was removed in this release, so the notification cannot be sent.
    void endWithoutSend(deps, claims, delivery, missingTargetResult).catch((error: unknown) => {
      claims.forget([delivery.message])
      log.warn({ err: error }, 'completing notification failed; it will be retried')
    })
    return true
  }
  opening.use(startOutboxWorker({ deps, claims, limits, add }))
  // Before the first send, so that metrics include it. While the policy cannot be read, the first send includes it.
  await parts.policy().then(targets, () => [])
  const running = opening.move()
  const subscriptionIdsOf = parts.subscriptionIdsOf ?? (async () => [])
  return {
    handlers: { ...createDeliveryHandlers({ ...deps, subscriptionIdsOf }), notify: createNotifyHandler(deps) },
    isMissed: (notification) => hasMissingDelivery(deps, notification),
    prune: (beforeMs) => deliveries.prune(beforeMs),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const openDeliveries = async (database: Database | undefined) => {
  if (!database) return createMemoryDeliveries()
  const { openSqlDeliveries: sqlDeliveries } = await import('./sql-deliveries.ts')
  return sqlDeliveries(database)
}

/** Returns a function that lists the enabled targets, and includes their channels in the metric of send durations. */
const createTargetLister =
  ({ channels, env, durations }: TargetListerDeps): DeliveryDeps['targets'] =>
  (policy) => {
    const enabled = listEnabledTargets({ channels, env, policy })
    durations.include(enabled.map(({ channel }) => channel))
    return enabled
  }

interface TargetListerDeps extends Pick<ServiceContext, 'env'> {
  channels: readonly Channel[]
  durations: SendDurations
}

/** Returns a function that lists the minimum severities of all enabled targets. */
export const createMinSeverityLister =
  (env: ServiceContext['env'], channels: readonly Channel[] = every): MinSeverityLister =>
  (reached) =>
    listEnabledTargets({ channels, env, policy: reached }).map(({ minSeverity }) => minSeverity)
