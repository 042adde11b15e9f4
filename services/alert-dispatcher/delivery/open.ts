import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { systemClock } from '#shared/clock.ts'
import { problemsOf } from '#shared/config/setting.ts'
import type { Context } from '#shared/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { openOutage } from '#shared/telemetry/outage.ts'
import type { Channel } from '../channels/channel.ts'
import { everyChannel as every } from '../channels/index.ts'
import { type Target, targetsNow } from '../channels/targets.ts'
import type { FloorsOf } from '../policy/layers/resolve.ts'
import type { Policy } from '../policy/policy.ts'
import { type Delivering, deliver } from './deliver.ts'
import { type NotifyHandlers, announce } from './announce.ts'
import { type DeliveryHandlers, deliveryHandlers } from './handlers.ts'
import { openLine } from './line.ts'
import { openListedHosts } from './listed-hosts.ts'
import { type PumpLimits, startPump } from './pump.ts'
import { Queued } from './queued.ts'
import { memoryDeliveries } from './records/memory.ts'
import { handOn } from './relay.ts'
import { type RetryPlan, defaultRetryPlan } from './retry.ts'
import { strictDeliverySettings } from './settings.ts'

/** What delivery is opened with; what is optional is the product's own unless a test shortens it. */
export interface DeliveryParts extends Pick<
  Context,
  'env' | 'store' | 'net' | 'clock' | 'telemetry' | 'readiness' | 'openQueue'
> {
  query: Client<typeof query>
  /** Where it is kept how deliveries ended; without one that is in memory. */
  database: Database | undefined
  policy(): Promise<Policy>
  channels?: readonly Channel[]
  retry?: RetryPlan
  pump?: PumpLimits
}

/** Tells people what the outbox holds, until disposed: then it finishes the sends that are under way. */
export interface Delivery extends AsyncDisposable {
  handlers: DeliveryHandlers & NotifyHandlers
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
  readiness.require('queue', () => queue.connected)
  const deliveries = await openDeliveries(parts.database)
  const targets = (policy: Policy): readonly Target[] => targetsNow({ channels, env, policy })
  const shared = {
    ...parts,
    // The queue keeps its waits by real time, so sends are paced by it too, whatever clock decides what is due.
    clock: systemClock,
    log,
    retry,
    line: openLine(),
    queue,
    deliveries,
    recording: openOutage(log, { begins: 'deliveries cannot be recorded', ends: 'deliveries are recorded again' }),
    targets,
    hosts: openListedHosts(parts),
    origin: openInstallationId(store),
  }
  const durations = metrics.alertSendDuration(telemetry.metrics)
  const observe: Delivering['observe'] = (channel, outcome, seconds) => durations.observe({ channel, outcome }, seconds)
  for (const channel of channels) opening.use(await consume(queue, channel, { ...shared, observe }))
  opening.use(startPump({ store, log, limits: parts.pump }, (notice) => handOn(shared, notice)))
  const running = opening.move()
  return {
    handlers: { ...deliveryHandlers(shared), notify: announce(shared) },
    prune: (beforeMs) => deliveries.prune(beforeMs),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const openDeliveries = async (database: Database | undefined) => {
  if (!database) return memoryDeliveries()
  const { sqlDeliveries } = await import('./records/sql.ts')
  return sqlDeliveries(database)
}

/** A channel handles this many at once over all its targets; each target has a limit of its own. */
const maxInFlight = 256
/** A message may wait for its target again and again; what ends it is its life. */
const tries = 100_000

const consume = (queue: Queue, channel: Channel, delivering: Delivering): Promise<AsyncDisposable> => {
  const consumer = { name: channel.id, subjects: `deliver.${channel.id}.>`, body: Queued, tries, maxInFlight }
  return queue.consume({ ...consumer, stream: 'DELIVER' }, (message) => deliver(delivering, channel, message))
}

/** The floors of all targets that have what they need. */
export const floorsOf =
  (env: Context['env'], channels: readonly Channel[] = every): FloorsOf =>
  (reached) =>
    targetsNow({ channels, env, policy: reached }).map(({ minSeverity }) => minSeverity)
