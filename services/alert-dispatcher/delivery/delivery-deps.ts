import type { Logger } from 'pino'
import type { ServiceClient } from '#proto/contract.ts'
import type { CompletedDelivery } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Store } from '#shared/store/store.ts'
import type { OutageLog } from '#shared/telemetry/outage.ts'
import type { SendResult } from '../channels/channel.ts'
import type { NotificationTarget, ChannelNetwork } from '../channels/targets.ts'
import type { Notification } from '../notification.ts'
import { createServiceCall } from '../dispatcher-deps.ts'
import type { Policy } from '../policy.ts'
import type { DeliveryStore } from './deliveries.ts'
import {
  DeliveryRecord,
  type PendingDeliveryOptions,
  addPendingDeliveries,
  getDeliveryRecordKey,
  deliveryRecordTtlMs,
} from './delivery-record.ts'
import type { RecentChangesReader } from './recent-changes.ts'
import type { RetryPlan } from './retry.ts'

/** Dependencies of delivery. */
export interface DeliveryDeps {
  env: Environment
  store: Store
  net: ChannelNetwork
  clock: Clock
  log: Logger
  deliveries: DeliveryStore
  /** Tracks whether results can be recorded. */
  recording: OutageLog
  retry: RetryPlan
  policy(): Promise<Policy>
  targets(policy: Policy): readonly NotificationTarget[]
  hosts(): Promise<ListedHosts>
  recentChanges: RecentChangesReader
  /** Returns the id of this installation. */
  origin(): Promise<string>
  /** Records the result and duration in seconds of a send. */
  observe(channel: string, result: SendResult['kind'], seconds: number): void
}

/** An outbox message that this process has claimed. */
export interface ClaimedOutboxMessage {
  id: string
  /** Deliveries of the message that are still open in this process. */
  notifications: Set<PendingDelivery>
  /** Whether a target queue was full. If so, the message stays in the outbox after its other deliveries have ended. */
  comesAgain: boolean
}

/** The delivery of one notification to one target. */
export interface PendingDelivery {
  message: ClaimedOutboxMessage
  notification: Notification
  channel: string
  target: string
  /** The recipients to add to the record of the episode if it does not contain the notification yet. */
  opening: PendingDeliveryOptions
  /**
   * Shared by the deliveries of one notification. If the record was in the store and is missing now, the store was
   * emptied.
   */
  recordState: { isStored: boolean }
  /** Epoch milliseconds from which the delivery lifetime counts. */
  sinceMs: number
}

/**
 * Adds the pending deliveries of a notification to the stored record of its episode. Throws `conflict` if the record
 * was lost since it was read, so that the recipients are determined again.
 */
export const storePendingDeliveries = (
  store: Store,
  notification: Notification,
  { opening, isStored }: { opening: PendingDeliveryOptions; isStored: boolean },
): Promise<DeliveryRecord | undefined> =>
  store.update(getDeliveryRecordKey(notification.episode), DeliveryRecord, (before) => {
    if (isStored && !before) throw new ServiceError('conflict', 'delivery record lost: the state store was emptied')
    return { value: addPendingDeliveries(before, notification, opening), expiresInMs: deliveryRecordTtlMs }
  })

/** The result of one delivery. */
export type DeliveryResult = Pick<CompletedDelivery, 'result' | 'reason' | 'attempts'>

/** Listed hosts by key. */
export type ListedHosts = ReadonlyMap<string, Host>

const hostListTtlMs = 10_000
const listTimeoutMs = 2_000

/**
 * Returns the host list, refreshed at most every ten seconds. While `query` is unavailable, the last known list is
 * returned.
 */
export const createHostListCache = (deps: {
  query: ServiceClient<typeof query>
  clock: Clock
}): (() => Promise<ListedHosts>) => {
  let known: ListedHosts = new Map()
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let refreshing: Promise<void> | undefined
  const refresh = async () => {
    const call = createServiceCall(deps, listTimeoutMs, AbortSignal.timeout(listTimeoutMs))
    const hosts = await deps.query.hosts({}, call).catch(() => undefined)
    if (hosts) known = new Map(hosts.map((host) => [host.key, host]))
    freshUntilMs = performance.now() + hostListTtlMs
  }
  return async () => {
    if (performance.now() < freshUntilMs) return known
    refreshing ??= refresh().finally(() => {
      refreshing = undefined
    })
    await refreshing
    return known
  }
}
