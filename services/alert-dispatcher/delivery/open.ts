import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { type Clock, systemClock } from '#shared/time/clock.ts'
import { problemsOf } from '#shared/config/setting.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { openOutage } from '#shared/telemetry/outage.ts'
import type { Channel } from '../channels/channel.ts'
import { everyChannel as every } from '../channels/index.ts'
import { type Target, targetsNow } from '../channels/targets.ts'
import type { FloorsOf } from '../policy/layers/resolve.ts'
import type { Policy } from '../policy.ts'
import { Queued } from '../notice.ts'
import { type Delivering, openListedHosts } from './delivering.ts'
import { type ChannelDelivery, openChannelDelivery } from './deliver.ts'
import { type NotifyHandlers, announce } from './announce.ts'
import { type DeliveryHandlers, deliveryHandlers } from './handlers.ts'
import { type PumpLimits, startPump } from './pump.ts'
import { memoryDeliveries } from './deliveries.ts'
import { handOn } from './relay.ts'
import { startRepublishing } from './republish.ts'
import { type RetryPlan, defaultRetryPlan } from './retry.ts'
import { strictDeliverySettings } from './settings.ts'
import { openWaitingEpisodes } from './ledger.ts'

/** What delivery is opened with; what is optional is the product's own unless a test shortens it. */
export interface DeliveryParts extends Pick<
  Context,
  'env' | 'store' | 'net' | 'clock' | 'telemetry' | 'readiness' | 'openQueue'
> {
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
  pump?: PumpLimits
  /** How often it is checked that the queue still holds what is under way; milliseconds. */
  republishEveryMs?: number | undefined
}

/** Tells people what the outbox holds, until disposed: then it finishes the sends that are under way. */
export interface Delivery extends AsyncDisposable {
  handlers: DeliveryHandlers & NotifyHandlers
  /** Whether it is on record that some target took a notification of the episode. */
  isNotified(episode: string): Promise<boolean>
  /** Forgets what is older than its stated age; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** Opens the queue, sends what waits in it, and from then on hands on whatever the outbox holds. */
export const openDelivery = async (parts: DeliveryParts): Promise<Delivery> => {
  const { env, store, telemetry, readiness, channels = every, retry = defaultRetryPlan } = parts
  const { log } = telemetry
  for (const { name, sentence } of problemsOf(strictDeliverySettings, env)) {
    log.warn({ variable: name, reason: sentence }, 'variable cannot be meant; what is wrong of it counts as unset')
  }
  await using opening = new AsyncDisposableStack()
  const queue = opening.use(await parts.openQueue())
  readiness.require(
    'queue',
    () => queue.connected,
    () => queue.problem,
  )
  const deliveries = await openDeliveries(parts.database)
  const targets = (policy: Policy): readonly Target[] => targetsNow({ channels, env, policy })
  // The queue keeps its waits by real time, so this clock paces the sends too, whichever clock decides what is due.
  const clock = parts.pacedBy ?? systemClock
  const shared = {
    ...parts,
    clock,
    log,
    retry,
    queue,
    deliveries,
    waiting: openWaitingEpisodes(store, clock),
    recording: openOutage(log, { begins: 'deliveries cannot be recorded', ends: 'deliveries are recorded again' }),
    targets,
    hosts: openListedHosts(parts),
    origin: openInstallationId(store),
    subscriptionIdsOf: parts.subscriptionIdsOf ?? (async () => []),
  }
  const durations = metrics.alertSendDuration(telemetry.metrics)
  const observe: Delivering['observe'] = (channel, outcome, seconds) => durations.observe({ channel, outcome }, seconds)
  for (const channel of channels)
    await consume(opening, queue, openChannelDelivery({ ...shared, observe }, channel), channel)
  opening.use(startRepublishing({ ...shared, channels }, parts.republishEveryMs))
  opening.use(startPump({ store, log, limits: parts.pump }, (notice) => handOn(shared, notice)))
  const running = opening.move()
  return {
    handlers: { ...deliveryHandlers(shared), notify: announce(shared) },
    isNotified: async (episode) => (await deliveries.toldOf(episode)).length > 0,
    prune: (beforeMs) => deliveries.prune(beforeMs),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const openDeliveries = async (database: Database | undefined) => {
  if (!database) return memoryDeliveries()
  const { sqlDeliveries } = await import('./sql-deliveries.ts')
  return sqlDeliveries(database)
}

/** A channel has this many messages in hand over all its targets: those that are being sent, and those that wait for their targets. */
const maxInFlight = 4_096
/** A message may wait for its target again and again; what ends it is its life. */
const tries = 100_000

/** Those that wait go back to the durable queue before the consumer ends, which waits for what it has in hand. */
const consume = async (
  opening: AsyncDisposableStack,
  queue: Queue,
  delivery: ChannelDelivery,
  { id: name }: Channel,
): Promise<void> => {
  const consumer = { stream: 'DELIVER', name, subjects: `deliver.${name}.>`, body: Queued, tries, maxInFlight } as const
  opening.use(await queue.consume(consumer, (message) => delivery.deliver(message)))
  opening.use(delivery)
}

/** The floors of all targets that have what they need. */
export const floorsOf =
  (env: Context['env'], channels: readonly Channel[] = every): FloorsOf =>
  (reached) =>
    targetsNow({ channels, env, policy: reached }).map(({ minSeverity }) => minSeverity)
