import type { z } from 'zod'
import {
  DeliveriesAnswer,
  DeliveriesQuery,
  TargetsAnswer,
  DeadLettersAnswer,
  DeadLettersQuery,
  ReplayAnswer,
  ReplayRequest,
} from '#proto/http/deliveries.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { visibleSubscriptions } from '../alert-config/subscriber.ts'
import { watchedHosts, shownOf, namedOr } from '../hosts/host-list.ts'
import { success } from '../response/envelope.ts'
import { getRoute, type Route, postRoute } from '../http-route.ts'

const common = { feature: 'HEALTH', limit: 'data' } as const

const deliveries = getRoute({
  ...common,
  path: '/api/v1/health/deliveries',
  doc: 'Whom alerts were sent to, and what came of it; the newest first. Deliveries to a webhook subscription are shown to its owner, and to callers who may manage users',
  access: 'read',
  query: DeliveriesQuery,
  answer: DeliveriesAnswer,
  handle: async ({ query: { before, limit, ...filter }, call }, gateway) => {
    const { hosts, alerts } = gateway
    const [nameOf, subscriptionsOf] = [await watchedHosts(hosts), await visibleSubscriptions(gateway, call)]
    const found = await alerts.deliveries({ ...filter, subscriptionsOf, beforeMs: before, limit }, call)
    const next = found.length === limit ? (found.at(-1)?.atMs ?? null) : null
    return success(shownOf(found, nameOf), { next })
  },
})

const targets = getRoute({
  ...common,
  path: '/api/v1/health/targets',
  doc: 'Where alerts go now, and how each of these places fares',
  access: 'read',
  query: noQuery,
  answer: TargetsAnswer,
  handle: async ({ call }, { alerts }) => {
    const found = await alerts.alertTargets({}, call)
    return success(found, { count: found.length })
  },
})

/** How people were told. */
export const healthDeliveryRoutes: readonly Route[] = [deliveries, targets]

type Letter = z.input<typeof DeadLettersAnswer>['data'][number]

const deadLetters = getRoute({
  ...common,
  path: '/api/v1/health/dead-letters',
  doc: 'Alerts and inbound events that were given up, with the reason; the newest first. Those for a webhook subscription are shown to its owner, and to callers who may manage users',
  access: 'read',
  query: DeadLettersQuery,
  answer: DeadLettersAnswer,
  handle: async ({ query: { stream, ...page }, call }, gateway) => {
    const { hosts, alerts, ingest } = gateway
    const ofAlerts = async (): Promise<LetterPage<Letter>> => {
      const [nameOf, subscriptionsOf] = [await watchedHosts(hosts), await visibleSubscriptions(gateway, call)]
      const { letters, next } = await alerts.deadLetters({ ...page, subscriptionsOf }, call)
      return { letters: shownOf(letters, nameOf).map((letter) => ({ stream: 'DELIVER', ...letter })), next }
    }
    const ofEvents = async (): Promise<LetterPage<Letter>> => {
      const { letters, next } = await ingest.deadEvents(page, call)
      return { letters: letters.map((letter) => ({ stream: 'EVENTS', ...letter })), next }
    }
    const pages = await Promise.all([
      ...(stream === 'EVENTS' ? [] : [ofAlerts()]),
      ...(stream === 'DELIVER' ? [] : [ofEvents()]),
    ])
    const { letters, next } = joinedLetters(pages, page.limit)
    return success([...letters], { next })
  },
})

const replay = postRoute({
  ...common,
  path: '/api/v1/health/dead-letters/{id}/replay',
  doc: 'Sends an alert again that was given up, unless its receiver has been told of something later meanwhile, or hands an inbound event over again',
  access: 'write',
  query: noQuery,
  body: ReplayRequest,
  answer: ReplayAnswer,
  handle: async ({ path: { id }, body: { stream }, call, requestId }, gateway) => {
    const { hosts, alerts, ingest, audit } = gateway
    const action = stream === 'EVENTS' ? 'replay-event' : 'replay-alert'
    const deed = { action, host: null, target: { letter: id } }
    if (stream === 'EVENTS') {
      const letter = await audit.of(deed, { call, requestId }, () => ingest.replayDeadEvent({ id }, call))
      return success({ stream, ...letter }, {})
    }
    const [nameOf, subscriptionsOf] = [await watchedHosts(hosts), await visibleSubscriptions(gateway, call)]
    const replaying = () => alerts.replayDeadLetter({ id, subscriptionsOf }, call)
    const letter = await audit.of(deed, { call, requestId }, replaying)
    const { hostKey, ...shown } = letter
    return success({ stream, ...shown, ...namedOr(hostKey, nameOf) }, {})
  },
})

/** What was given up, and giving it another try. */
export const healthDeadLetterRoutes: readonly Route[] = [deadLetters, replay]

/** One page of letters of one kind, the newest first: all of them from `next` on, or all there are where that is null. */
interface LetterPage<T> {
  letters: readonly T[]
  next: string | null
}

/** Pages of letters whose ids count in one order, as one page of as many at most. */
export const joinedLetters = <T extends { id: string }>(
  pages: readonly LetterPage<T>[],
  limit: number,
): LetterPage<T> => {
  // Below this, letters of one kind were not looked at yet.
  const seenFrom = Math.max(0, ...pages.map(({ next }) => Number(next ?? 0)))
  const all = pages.flatMap(({ letters }) => letters).filter(({ id }) => Number(id) >= seenFrom)
  const letters = all.toSorted((one, other) => Number(other.id) - Number(one.id)).slice(0, limit)
  if (letters.length < all.length) return { letters, next: letters.at(-1)?.id ?? null }
  return { letters, next: seenFrom > 0 ? String(seenFrom) : null }
}
