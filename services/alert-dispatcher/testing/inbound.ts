import { clockOf } from '#shared/time/clock.ts'
import { z } from 'zod'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { openPlaces, EventList, OpenCounts, countsKey, listKey } from '../events/places.ts'
import { markerKey } from '../events/rebuild.ts'
import { entryKey, mostOpen } from '../events/record.ts'
import { inboundConditions } from '../events/inbound-conditions.ts'
import { takeEvents, type Waiting } from '../events/consume.ts'
import { tickEvents } from '../sweeps/tick.ts'
import { Notice } from '../notice.ts'
import { reconcileEvents } from '../sweeps/reconcile.ts'
import { openObserve } from '../sweeps/observe.ts'
import type { Parts } from '../parts.ts'
import type { Policy } from '../policy.ts'
import { memoryStores } from '../stores/collected.ts'
import type { Stores } from '../stores/stores.ts'
import { takeTurn } from '../sweep-lease.ts'
import { plainPolicy } from './story.ts'

/** A dispatcher that hears of inbound events and of nothing else, on a clock of its own. */
export interface Inbound extends AsyncDisposable {
  nowMs: number
  policy: Policy
  env: Record<string, string>
  /** Sends events in their order and gives what was told because of them. */
  hear(...events: readonly Partial<InboundEvent>[]): Promise<string[]>
  /** Takes events that come together. */
  take(...events: readonly Partial<InboundEvent>[]): Promise<Waiting[]>
  /** Lets time do its part and gives what was told. */
  tick(): Promise<string[]>
  /** Kinds and reasons of the history, the oldest first. */
  history(): Promise<string[]>
  /** Acknowledges, dismisses or takes back, and lists. */
  handlers: ReturnType<typeof inboundConditions>
  /** Brings what was said and is only in the database to what is open. */
  reconcile(): Promise<void>
  stores: Stores
  store: Store
  parts: Parts
  /** Loses all that the store has of events, as a Redis that came back empty. */
  lose(): Promise<void>
  /** What the last messages say in full. */
  notices: Notice[]
  /** Whether some target took each of them, as is on record. */
  isMissed: boolean
}

const unasked: Partial<Parts['query']> = {}
// Events are about no host and no rule of ours, so nothing of it is ever asked.
const unconcerned = {
  query: unasked as Parts['query'],
  warnOfUnsoundRules: () => {},
  warnOfLostRoutes: () => {},
  warnOfBrokenChannels: () => {},
}

const partsOf = ({ episodes, eventEpisodes }: Stores, opened: Parameters<typeof openObserve>[0]) => ({
  episodes,
  eventEpisodes,
  isLasting: true,
  observe: openObserve(opened),
})

export const openInbound = async (most = mostOpen): Promise<Inbound> => {
  await using opening = new AsyncDisposableStack()
  const facts = { instance: 'test', version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opening.use(await openTelemetry({}, facts, { write: () => {} })).of('alert-dispatcher')
  const store = opening.use(await openStore({ env: {}, busIsShared: false }))
  const stores = memoryStores()
  const [env, notices]: [Record<string, string>, Notice[]] = [{}, []]
  let sent = 0
  const inbound = { nowMs: Date.UTC(2026, 2, 1, 12), policy: plainPolicy, env, notices, isMissed: false }
  const clock = clockOf(() => inbound.nowMs)
  const opened = { env, store, clock, telemetry, net: opening.use(openNet({ env: {} })) }
  const now = { policy: async () => inbound.policy, isMissed: async () => inbound.isMissed }
  const parts: Parts = { ...opened, ...unconcerned, ...partsOf(stores, opened), ...now }

  const told = async (): Promise<string[]> => {
    inbound.notices = await noticesIn(store)
    return inbound.notices.map(({ kind, severity, title, source }) => `${kind} ${severity} ${title} on ${source}`)
  }
  const take = async (...events: readonly Partial<InboundEvent>[]): Promise<Waiting[]> => {
    const waiting = events.map((event): Waiting => {
      sent += 1
      const { nowMs } = inbound
      return { event: { ...plainEvent, occurredAt: nowMs, receivedAt: nowMs, ...event, id: `e${sent}` } }
    })
    await takeEvents({ ...parts, mostOpen: most }, waiting)
    return waiting
  }
  const running = opening.move()
  return Object.assign(inbound, {
    stores,
    store,
    parts,
    take,
    history: () => historyIn(stores),
    handlers: inboundConditions({ store, clock: parts.clock, stores: { ...stores, lasting: true } }),
    reconcile: async () => reconcileEvents(parts, await stores.episodes.settled()),
    lose: () => lose(store),
    hear: async (...events: readonly Partial<InboundEvent>[]) => {
      for (const event of events) for (const { failure } of await take(event)) if (failure) throw failure
      return told()
    },
    tick: async () => {
      await using turn = await takeTurn(store, new AbortController().signal)
      if (!turn) throw new Error('nobody else has the turn')
      await tickEvents(parts, turn, { policy: inbound.policy, nowMs: inbound.nowMs, most })
      return told()
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  })
}

const historyIn = async ({ history }: Stores): Promise<string[]> =>
  (await history.list({ limit: 1_000 })).toReversed().map(({ kind, reason }) => `${kind}: ${reason}`)

/** Takes all notices out of the outbox. */
export const noticesIn = async ({ outbox }: Store): Promise<Notice[]> => {
  const claimed = await outbox.claim(1_000, 60_000)
  await outbox.ack(claimed.map(({ id }) => id))
  return claimed.map(({ payload }) => Notice.parse(payload))
}

/** What the store has of events. */
const lose = async (store: Store): Promise<void> => {
  const lists = Object.keys((await store.get(countsKey, OpenCounts)) ?? {}).map(listKey)
  const over = await Promise.all(lists.map(async (key) => (await store.get(key, EventList))?.over ?? []))
  const entries = [...(await openPlaces(store, mostOpen)), ...over.flat()].map(entryKey)
  for (const key of [countsKey, markerKey, ...lists, ...entries])
    await store.update(key, z.unknown(), () => ({ value: undefined }))
}

/** An event of a test, to be changed. */
export const plainEvent: InboundEvent = {
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
