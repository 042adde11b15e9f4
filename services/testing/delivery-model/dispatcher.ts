import type { CompletedDelivery } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { InboundEvent } from '#proto/inbound-event.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { openNet } from '#shared/net/net.ts'
import { type Database, openDatabase } from '#shared/store/sql/connection.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import type { Store } from '#shared/store/store.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openDelivery } from '../../alert-dispatcher/delivery/open-delivery.ts'
import type { RetryPlan } from '../../alert-dispatcher/delivery/retry.ts'
import { testServiceCall } from '../../alert-dispatcher/delivery/testing/fixture.ts'
import { processEvents, type PendingEvent } from '../../alert-dispatcher/events/consume.ts'
import { processDueInboundConditions } from '../../alert-dispatcher/sweeps/tick.ts'
import type { EventEpisode } from '../../alert-dispatcher/events/event-entry.ts'
import type { DispatcherDeps } from '../../alert-dispatcher/dispatcher-deps.ts'
import { openCollectionStores } from '../../alert-dispatcher/stores/collection-stores.ts'
import { openDeferredWrites } from '../../alert-dispatcher/stores/open-stores.ts'
import type { DispatcherStores } from '../../alert-dispatcher/stores/stores.ts'
import { reconcileEvents } from '../../alert-dispatcher/sweeps/reconcile.ts'
import { openSweepMetrics } from '../../alert-dispatcher/sweeps/sweep-metrics.ts'
import { testPolicy } from '../../alert-dispatcher/testing/simulated-host.ts'
import type { FakeTargets } from './fake-targets.ts'

/** A dispatcher in this process that accepts events, runs ticks and delivers notifications. */
export interface Dispatcher {
  /** Resolves when the event was accepted. Otherwise it rejects or never resolves, and the sender must retry. */
  take(event: InboundEvent): Promise<void>
  /** Runs a tick and returns whether it ran; false if another dispatcher holds the tick lease. */
  tick(): Promise<boolean>
  /** Returns the data in the database. */
  onRecord(): Promise<RecordedDeliveries>
  /** Simulates a killed process: from now on, the dispatcher reaches no server and no target. */
  kill(): void
  /** Shuts down gracefully. */
  stop(): Promise<void>
}

/** The episodes and delivery records in the database. */
interface RecordedDeliveries {
  /** The sequence number of the last notification, by open episode. */
  open: ReadonlyMap<string, number>
  /** All episodes. */
  known: ReadonlySet<string>
  rows: readonly CompletedDelivery[]
}

/** The clock, targets, stores and simulated faults that all dispatchers of a schedule share. */
export interface DispatcherEnvironment {
  clock: Clock
  targets: FakeTargets
  telemetry: ServiceContext['telemetry']
  openStore(): Promise<Store>
  database: StateDatabase | undefined
  faults: { storeIsCut: boolean; databaseIsDown: boolean; storeRefuses: boolean; chance(): number }
}

const retry: RetryPlan = {
  // Must exceed the time to send and record a message on a busy machine; otherwise another dispatcher resends it.
  holdMs: 10_000,
  waitsMs: [10, 20],
  jitter: 0.2,
  maxRestMs: 30,
  maxWaitMs: 30,
  lifeMs: { paging: 60_000, others: 60_000 },
  recordAgainMs: 40,
}
const claims = { atOnce: 20, claimMs: 250 }
const lookEveryMs = 25

export const openDispatcher = async (ground: DispatcherEnvironment): Promise<Dispatcher> => {
  let isAlive = true
  await using connecting = new AsyncDisposableStack()
  await using opening = new AsyncDisposableStack()
  const opened = await openParts(ground, { connecting, opening, isAlive: () => isAlive })
  const { parts, store, delivery } = opened
  const [running, connections] = [opening.move(), connecting.move()]
  return {
    async take(event) {
      const waiting: PendingEvent = { event }
      await processEvents(parts, [waiting])
      if (!isAlive) throw new Error('the dispatcher was killed by the test')
      if (waiting.failure) throw waiting.failure
    },
    async tick() {
      await using lease = await store.lease('model', 200)
      if (!lease) return false
      const turn = { fence: lease.fence, signal: new AbortController().signal, [Symbol.asyncDispose]: async () => {} }
      await processDueInboundConditions(parts, turn, { policy: testPolicy, nowMs: parts.clock.now() })
      if (parts.isPersistent) await reconcileEvents(parts, await parts.episodes.storedSilences())
      return true
    },
    async onRecord() {
      const rows = await delivery.handlers.deliveries({ limit: 500 }, testServiceCall)
      const open = await parts.eventEpisodes.open()
      const known = [...open, ...(await parts.eventEpisodes.ended(0))]
      return { open: new Map(open.map(lastSequenceOf)), known: new Set(known.map(nameOf)), rows }
    },
    kill() {
      isAlive = false
      // Requests and sends of a killed dispatcher fail. Disposal takes up to ten seconds or fails, so it is not awaited.
      void running.disposeAsync().catch(() => {})
      void connections.disposeAsync().catch(() => {})
    },
    async stop() {
      await running.disposeAsync()
      await connections.disposeAsync()
    },
  }
}

const nameOf = ({ entry }: EventEpisode): string => entry.condition.episode
const lastSequenceOf = ({ entry: { condition } }: EventEpisode) => [condition.episode, condition.sequence - 1] as const

interface Opening {
  connecting: AsyncDisposableStack
  opening: AsyncDisposableStack
  isAlive(): boolean
}

const openParts = async (ground: DispatcherEnvironment, { connecting, opening, isAlive }: Opening) => {
  const { clock, targets, telemetry, faults } = ground
  const store = createSeverableStore(connecting.use(await ground.openStore()), faults, isAlive)
  const connected = ground.database && connecting.use(await openDatabase(ground.database))
  const database = connected && createBreakableDatabase(connected, () => isAlive() && !faults.databaseIsDown)
  const later = opening.use(openDeferredWrites(telemetry.log, 40))
  const { episodes, eventEpisodes } = retryWrites(await openCollectionStores(database), later)
  const net = opening.use(openNet({ env: {} }))
  // Delivery calls only the method `hosts`.
  const query = { hosts: async () => [] } as Partial<DispatcherDeps['query']> as DispatcherDeps['query']
  const shared = { env: {}, store, net, clock, telemetry, query, policy: async () => testPolicy }
  const channels = [targets.channelOf(isAlive)]
  const sending = { rateLimitClock: clock, channels, claims, retry }
  const delivery = opening.use(await openDelivery({ ...shared, ...sending, database }))
  const warns = { warnOfInvalidRules: () => {}, warnOfLostRoutes: () => {}, warnOfBrokenChannels: () => {} }
  const kept = { episodes, eventEpisodes, isPersistent: database !== undefined, isMissed: delivery.isMissed }
  const parts: DispatcherDeps = { ...shared, ...kept, ...warns, observe: openSweepMetrics(shared) }
  return { parts, store, delivery }
}

const retryWrites = (stores: DispatcherStores, later: ReturnType<typeof openDeferredWrites>): DispatcherStores => ({
  ...stores,
  episodes: { ...stores.episodes, write: later.retried(stores.episodes.write) },
  eventEpisodes: { ...stores.eventEpisodes, write: later.retried(stores.eventEpisodes.write) },
})

const connectionError = () => new ServiceError('unavailable', 'the test has cut the connection')

const createBreakableDatabase = (database: Database, isUp: () => boolean): Database =>
  Object.create(database, {
    run: { value: <T>(work: () => Promise<T>) => (isUp() ? database.run(work) : Promise.reject(connectionError())) },
    [Symbol.asyncDispose]: { value: async () => {} },
  })

/** Wraps a store so that its connection can be cut. A cut request may or may not have been executed. */
const createSeverableStore = (store: Store, faults: DispatcherEnvironment['faults'], isAlive: () => boolean): Store => {
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!isAlive()) throw connectionError()
    if (faults.storeIsCut) {
      if (faults.chance() < 0.3) await work().catch(() => {})
      throw connectionError()
    }
    const result = await work()
    // A killed process does not receive the result.
    if (!isAlive()) throw connectionError()
    return result
  }
  const refusing = <T>(work: () => Promise<T>): Promise<T> =>
    faults.storeRefuses ? Promise.reject(new ServiceError('busy', 'the test rejects all writes')) : call(work)
  return {
    get connected() {
      return isAlive() && !faults.storeIsCut
    },
    get: (key, schema) => call(() => store.get(key, schema)),
    getAll: (keys, schema) => call(() => store.getAll(keys, schema)),
    update: (key, schema, step, fence) => refusing(() => store.update(key, schema, step, fence)),
    updateNew: (key, schema, step) => refusing(() => store.updateNew(key, schema, step)),
    updateTogether: (keys, step) => refusing(() => store.updateTogether(keys, step)),
    lease: (name, lengthMs) => call(() => store.lease(name, lengthMs)),
    outbox: {
      claim: (max, claimMs) => call(() => store.outbox.claim(max, claimMs)),
      ack: (ids) => call(() => store.outbox.ack(ids)),
      renew: (ids, claimMs) => call(() => store.outbox.renew(ids, claimMs)),
      holds: (ids) => call(() => store.outbox.holds(ids)),
      onAppend(listener) {
        const timer = setInterval(() => isAlive() && listener(), lookEveryMs).unref()
        return { [Symbol.dispose]: () => clearInterval(timer) }
      },
      takeOwn: (taker) =>
        store.outbox.takeOwn({
          ...taker,
          hasRoom: () => isAlive() && taker.hasRoom(),
          take: (messages) => void (isAlive() && taker.take(messages)),
        }),
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
