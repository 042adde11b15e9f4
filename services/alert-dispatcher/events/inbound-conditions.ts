import type { Silence } from '#proto/alert-history.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { inboundConditionMethods } from '#proto/inbound-conditions.ts'
import type { Store } from '#shared/store/store.ts'
import { requireLasting, type Alerting } from '../alerting.ts'
import { type Settled, sameSilences } from '../conditions/condition.ts'
import { shown, holding, silenceOf } from '../conditions/handlers.ts'
import { afterEnd } from '../conditions/tell.ts'
import type { Parts } from '../parts.ts'
import { openConditions, OpenCounts, countsKey, firingIn, type OpenCondition, entryAt } from './places.ts'
import { Marker, lastNoticeOf, markerKey, missedOf, notifyAgain } from './rebuild.ts'
import { type EventEpisode, EventEntry, entryKey, mostOpen } from './record.ts'

type Handled = Pick<Handlers<typeof alerts>, keyof typeof inboundConditionMethods>

/** What people are told of conditions that inbound events begin, and what they say to them. */
export const inboundConditions = (alerting: Pick<Alerting, 'store' | 'stores' | 'clock'>): Handled => {
  const { store, stores, clock } = alerting
  return {
    async inboundConditions({ limit }) {
      const open = firingIn((await store.get(countsKey, OpenCounts)) ?? {})
      const found = limit === 0 ? [] : await openConditions(store, limit)
      const conditions = found.map(({ source, condition }) => ({ ...shown(condition), source }))
      return { conditions, open: Math.max(open, conditions.length) }
    },
    async silenceInbound({ episode, kind, minutes, note }, { identity }) {
      if (kind === 'ack') requireLasting(stores, 'acknowledging')
      const found = await findOpen(store, episode)
      if (!found) throw noSuchEpisode()
      const of = { episode, hostKey: null, ruleId: found.condition.ruleId }
      const said = silenceOf({ kind, minutes, note }, of, { by: identity.subject, atMs: clock.now() })
      // Where it lasts first: the sweep brings from there what did not get into the condition.
      await stores.silences.put(said)
      await tellOpen(store, said, said)
      return said
    },
    async unsilenceInbound({ episode, kind }) {
      if (kind === 'ack') requireLasting(stores, 'acknowledging')
      const said = (await holding(alerting)).find((each: Silence) => each.kind === kind && each.episode === episode)
      if (!said) throw noSuchEpisode()
      await stores.silences.remove(kind, episode)
      await tellOpen(store, said, null)
      return said
    },
  }
}

const noSuchEpisode = (): ServiceError =>
  new ServiceError('not-found', 'no such condition of an inbound event, or it is over', {
    details: { parameter: 'episode' },
  })

type Said = Pick<Silence, 'kind' | 'episode'>

/** The open condition of an episode; undefined when it is over. */
const findOpen = async (store: Store, episode: string): Promise<OpenCondition | undefined> =>
  (await openConditions(store, 2 * mostOpen)).find(({ condition }) => condition.episode === episode)

/** Puts what an operator says into the condition, or takes it back; does nothing where its episode is over. */
const tellOpen = async (
  store: Store,
  { kind, episode }: Said,
  silence: Pick<Silence, 'untilMs'> | null,
): Promise<void> => {
  const found = await findOpen(store, episode)
  if (!found) return
  const said = silence && { untilMs: silence.untilMs }
  await changeOpen(store, found, { [kind === 'ack' ? 'acknowledged' : 'dismissed']: said })
}

/** Brings what operators said, as the database has it, into every open condition; ends there what is over here, and adds what it lacks. */
export const reconcileOpen = async (
  parts: Pick<Parts, 'store' | 'eventEpisodes' | 'clock' | 'isMissed'>,
  settled: readonly Settled[],
): Promise<void> => {
  const { store, eventEpisodes, clock } = parts
  const saidOf = new Map(settled.map((said) => [said.episode, said]))
  const marker = await store.get(markerKey, Marker)
  const kept = await eventEpisodes.open()
  const all = await openConditions(store, 2 * mostOpen)
  const names = new Set(all.map(({ condition }) => condition.episode))
  const over: EventEpisode[] = []
  for (const episode of kept.filter(({ entry }) => !names.has(entry.condition.episode))) {
    // It may have been listed only since.
    const entry = await entryAt(store, episode.place)
    if (entry?.condition?.episode !== episode.entry.condition.episode) over.push(episode)
  }
  // A store that was emptied meanwhile has nothing open, and nothing is over because of that.
  if (marker === undefined || (await store.get(markerKey, Marker)) !== marker) return
  const isKept = new Set(kept.map(({ entry }) => entry.condition.episode))
  // The database may have been down when they began.
  const missing = all.filter(({ condition }) => condition.phase !== 'pending' && !isKept.has(condition.episode))
  const endedAtMs = clock.now()
  const ended = over.map(({ place, entry }) => ({
    place,
    entry: { ...entry, condition: afterEnd(entry.condition) },
    endedAtMs,
  }))
  const last = ended.map((episode) => lastNoticeOf(episode, endedAtMs))
  await notifyAgain(store, await missedOf(parts, last))
  await eventEpisodes.write([...ended, ...(await inStore(store, missing))])
  for (const open of all) {
    const { acknowledged = null, dismissed = null } = saidOf.get(open.condition.episode) ?? {}
    if (!sameSilences(open.condition, { acknowledged, dismissed }))
      await changeOpen(store, open, { acknowledged, dismissed })
  }
}

/** Conditions as they go on in the store. */
const inStore = async (store: Store, open: readonly OpenCondition[]): Promise<EventEpisode[]> => {
  const found: EventEpisode[] = []
  for (const { place } of open) {
    const entry = await entryAt(store, place)
    if (entry?.condition) found.push({ place, entry: { ...entry, condition: entry.condition }, endedAtMs: null })
  }
  return found
}

const changeOpen = async (
  store: Store,
  { place, condition: { episode } }: OpenCondition,
  said: Partial<Pick<Settled, 'acknowledged' | 'dismissed'>>,
): Promise<void> => {
  await store.update(entryKey(place), EventEntry, (entry) =>
    entry?.condition?.episode === episode
      ? { value: { ...entry, condition: { ...entry.condition, ...said } } }
      : undefined,
  )
}
