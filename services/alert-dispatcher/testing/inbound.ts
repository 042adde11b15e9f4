import { createClock } from '#shared/time/clock.ts'
import { z } from 'zod'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { listOpenEntryIds, EventBucket, OpenCounts, openCountsKey, getEventBucketKey } from '../events/event-buckets.ts'
import { restoreMarkerKey } from '../events/restore.ts'
import { getEventEntryKey, maxOpenConditions } from '../events/event-entry.ts'
import { createInboundConditionHandlers } from '../events/inbound-conditions.ts'
import { processEvents, type PendingEvent } from '../events/consume.ts'
import { processDueInboundConditions } from '../sweeps/tick.ts'
import { Notification } from '../notification.ts'
import { reconcileEvents } from '../sweeps/reconcile.ts'
import { openSweepMetrics } from '../sweeps/sweep-metrics.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import type { Policy } from '../policy.ts'
import { createMemoryStores } from '../stores/collection-stores.ts'
import type { DispatcherStores } from '../stores/stores.ts'
import { acquireSweepLease } from '../sweep-lease.ts'
import { testPolicy } from './simulated-host.ts'

/** A dispatcher for inbound events only, with a clock that the test sets. */
export interface InboundFixture extends AsyncDisposable {
  nowMs: number
  policy: Policy
  env: Record<string, string>
  /** Processes events in order and returns the notifications. */
  process(...events: readonly Partial<InboundEvent>[]): Promise<string[]>
  /** Processes events as one batch and returns them, each with its error if it failed. */
  take(...events: readonly Partial<InboundEvent>[]): Promise<PendingEvent[]>
  /** Runs a tick and returns the notifications. */
  tick(): Promise<string[]>
  /** Returns kinds and reasons of the history, oldest first. */
  history(): Promise<string[]>
  /** Handlers for listing conditions and for silences. */
  handlers: ReturnType<typeof createInboundConditionHandlers>
  /** Reconciles inbound conditions in the store with the database. */
  reconcile(): Promise<void>
  stores: DispatcherStores
  store: Store
  parts: DispatcherDeps
  /** Deletes all event data from the store, as if Redis had been emptied. */
  lose(): Promise<void>
  /** All fields of the notifications that `process` or `tick` returned last. */
  notifications: Notification[]
  /** Whether every notification counts as not delivered. */
  isMissed: boolean
}

const unusedQuery: Partial<DispatcherDeps['query']> = {}
// Events concern no host and no built-in rule, so `query` is never called.
const unusedDeps = {
  query: unusedQuery as DispatcherDeps['query'],
  warnOfInvalidRules: () => {},
  warnOfLostRoutes: () => {},
  warnOfBrokenChannels: () => {},
}

const createEpisodeDeps = (
  { episodes, eventEpisodes }: DispatcherStores,
  opened: Parameters<typeof openSweepMetrics>[0],
) => ({
  episodes,
  eventEpisodes,
  isPersistent: true,
  observe: openSweepMetrics(opened),
})

export const openInboundFixture = async (max = maxOpenConditions): Promise<InboundFixture> => {
  await using opening = new AsyncDisposableStack()
  const facts = { instance: 'test', version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opening.use(await openTelemetry({}, facts, { write: () => {} })).of('alert-dispatcher')
  const store = opening.use(await openStore({ env: {}, busIsShared: false }))
  const stores = createMemoryStores()
  const [env, notifications]: [Record<string, string>, Notification[]] = [{}, []]
  let sent = 0
  const inbound = { nowMs: Date.UTC(2026, 2, 1, 12), policy: testPolicy, env, notifications, isMissed: false }
  const clock = createClock(() => inbound.nowMs)
  const opened = { env, store, clock, telemetry, net: opening.use(openNet({ env: {} })) }
  const now = { policy: async () => inbound.policy, isMissed: async () => inbound.isMissed }
  const parts: DispatcherDeps = { ...opened, ...unusedDeps, ...createEpisodeDeps(stores, opened), ...now }

  const notified = async (): Promise<string[]> => {
    inbound.notifications = await claimNotifications(store)
    return inbound.notifications.map(({ kind, severity, title, source }) => `${kind} ${severity} ${title} on ${source}`)
  }
  const take = async (...events: readonly Partial<InboundEvent>[]): Promise<PendingEvent[]> => {
    const waiting = events.map((event): PendingEvent => {
      sent += 1
      const { nowMs } = inbound
      return { event: { ...testEvent, occurredAt: nowMs, receivedAt: nowMs, ...event, id: `e${sent}` } }
    })
    await processEvents({ ...parts, maxOpen: max }, waiting)
    return waiting
  }
  const running = opening.move()
  return Object.assign(inbound, {
    stores,
    store,
    parts,
    take,
    history: () => listHistory(stores),
    handlers: createInboundConditionHandlers({ store, clock: parts.clock, stores: { ...stores, isPersistent: true } }),
    reconcile: async () => reconcileEvents(parts, await stores.episodes.storedSilences()),
    lose: () => deleteEventData(store),
    process: async (...events: readonly Partial<InboundEvent>[]) => {
      for (const event of events) for (const { failure } of await take(event)) if (failure) throw failure
      return notified()
    },
    tick: async () => {
      await using lease = await acquireSweepLease(store, new AbortController().signal)
      if (!lease) throw new Error('expected a free lease')
      await processDueInboundConditions(parts, lease, { policy: inbound.policy, nowMs: inbound.nowMs, max })
      return notified()
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  })
}

const listHistory = async ({ history }: DispatcherStores): Promise<string[]> =>
  (await history.list({ limit: 1_000 })).toReversed().map(({ kind, reason }) => `${kind}: ${reason}`)

/** Claims and returns all notifications in the outbox. */
export const claimNotifications = async ({ outbox }: Store): Promise<Notification[]> => {
  const claimed = await outbox.claim(1_000, 60_000)
  await outbox.ack(claimed.map(({ id }) => id))
  return claimed.map(({ payload }) => Notification.parse(payload))
}

/** Deletes the event data of the store. */
const deleteEventData = async (store: Store): Promise<void> => {
  const lists = Object.keys((await store.get(openCountsKey, OpenCounts)) ?? {}).map(getEventBucketKey)
  const over = await Promise.all(lists.map(async (key) => (await store.get(key, EventBucket))?.over ?? []))
  const entries = [...(await listOpenEntryIds(store, maxOpenConditions)), ...over.flat()].map(getEventEntryKey)
  for (const key of [openCountsKey, restoreMarkerKey, ...lists, ...entries])
    await store.update(key, z.unknown(), () => ({ value: undefined }))
}

/** An event for tests. */
export const testEvent: InboundEvent = {
  id: '',
  source: 'prometheus',
  sourceType: 'alertmanager',
  externalId: null,
  dedupKey: 'k',
  severity: 'warning',
  severityUnknown: false,
  status: 'firing',
  resource: '',
  title: 'Disk full',
  body: '',
  labels: {},
  occurredAt: 0,
  endsAt: null,
  receivedAt: 0,
  url: null,
  truncated: false,
  own: false,
  hops: 0,
  raw: '{}',
}
