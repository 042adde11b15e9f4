import type { Logger } from 'pino'
import type { Client } from '#proto/contract.ts'
import type { Delivered } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Store } from '#shared/store/store.ts'
import type { Outage } from '#shared/telemetry/outage.ts'
import type { SendResult } from '../channels/channel.ts'
import type { Target, WayOut } from '../channels/targets.ts'
import type { Notice } from '../notice.ts'
import { ownCall } from '../parts.ts'
import type { Policy } from '../policy.ts'
import type { Deliveries } from './deliveries.ts'
import { DeliveryRecord, type Opening, open, recordKey, recordMs } from './record.ts'
import type { RetryPlan } from './retry.ts'

/** What delivering needs. */
export interface Delivering {
  env: Environment
  store: Store
  net: WayOut
  clock: Clock
  log: Logger
  deliveries: Deliveries
  /** Hears whether ends of deliveries can be recorded. */
  recording: Outage
  retry: RetryPlan
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
  hosts(): Promise<ListedHosts>
  /** The name of our installation. */
  origin(): Promise<string>
  /** Hears of each send and of how long it took, in seconds. */
  observe(channel: string, result: SendResult['kind'], seconds: number): void
}

/** A message of the outbox that this process has claimed. */
export interface HeldMessage {
  id: string
  /** What of it waits here and has no end yet. */
  notifications: Set<Notification>
  /** Some target had no room, so the message stays in the outbox when the others have their end. */
  comesAgain: boolean
}

/** One notice for one target. */
export interface Notification {
  message: HeldMessage
  notice: Notice
  channel: string
  target: string
  /** How the record of its episode opens where it has not yet. */
  opening: Opening
  /** Shared by the notifications of one notice in a message: whether its record was in the store, which has lost it when it is not. */
  kept: { isRecord: boolean }
  /** Epoch milliseconds from which its life counts. */
  sinceMs: number
}

/** Opens a notice in the stored record. Fails when the store has lost that since it was read: who was told is found out anew then. */
export const openInStore = (
  store: Store,
  notice: Notice,
  { opening, isStored }: { opening: Opening; isStored: boolean },
): Promise<DeliveryRecord | undefined> =>
  store.update(recordKey(notice.episode), DeliveryRecord, (before) => {
    if (isStored && !before) throw new ServiceError('conflict', 'the store has lost who was told')
    return { value: open(before, notice, opening), expiresInMs: recordMs }
  })

/** How a notice for one target ended. */
export type Ended = Pick<Delivered, 'result' | 'reason' | 'attempts'>

/** The hosts of the list by key. */
export type ListedHosts = ReadonlyMap<string, Host>

const freshMs = 10_000
const listedWithinMs = 2_000

/** The host list, asked for at most every ten seconds; while `query` does not answer, what it said last holds. */
export const openListedHosts = (asked: { query: Client<typeof query>; clock: Clock }): (() => Promise<ListedHosts>) => {
  let known: ListedHosts = new Map()
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined
  const ask = async () => {
    const call = ownCall(asked, listedWithinMs, AbortSignal.timeout(listedWithinMs))
    const hosts = await asked.query.hosts({}, call).catch(() => undefined)
    if (hosts) known = new Map(hosts.map((host) => [host.key, host]))
    freshUntilMs = performance.now() + freshMs
  }
  return async () => {
    if (performance.now() < freshUntilMs) return known
    asking ??= ask().finally(() => {
      asking = undefined
    })
    await asking
    return known
  }
}
