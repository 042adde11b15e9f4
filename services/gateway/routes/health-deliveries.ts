import type { z } from 'zod'
import {
  DeliveriesResponse,
  DeliveriesQuery,
  TargetsResponse,
  DeadLettersResponse,
  DeadLettersQuery,
  ReplayResponse,
  ReplayRequest,
} from '#proto/http/deliveries.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { resolveSubscriptionScope } from '../alert-config/subscriber.ts'
import { loadHostNames, replaceHostKeys, findHostNameOrNull } from '../hosts/host-list.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute, type Route, definePostRoute } from '../http-route.ts'

const common = { feature: 'HEALTH', limit: 'data' } as const

const deliveries = defineGetRoute({
  ...common,
  path: '/api/v1/health/deliveries',
  doc: 'Lists alert deliveries and their results, newest first. Deliveries to a webhook subscription are visible to its owner and to callers who may manage users',
  access: 'read',
  query: DeliveriesQuery,
  answer: DeliveriesResponse,
  handle: async ({ query: { before, cursor, limit, ...filter }, call }, gateway) => {
    const { hosts, alerts } = gateway
    const [nameOf, subscriptionsOf] = [await loadHostNames(hosts), await resolveSubscriptionScope(gateway, call)]
    const found = await alerts.deliveries({ ...filter, subscriptionsOf, beforeMs: cursor ?? before, limit }, call)
    const next = found.length === limit ? (found.at(-1)?.atMs ?? null) : null
    const nextCursor = next === null ? null : String(next)
    return createSuccessBody(replaceHostKeys(found, nameOf), { next, nextCursor })
  },
})

const targets = defineGetRoute({
  ...common,
  path: '/api/v1/health/targets',
  doc: 'Lists the current targets of alerts with their delivery status',
  access: 'read',
  query: noQuery,
  answer: TargetsResponse,
  handle: async ({ call }, { alerts }) => {
    const found = await alerts.alertTargets({}, call)
    return createSuccessBody(found, { count: found.length })
  },
})

/** Routes of deliveries and targets. */
export const healthDeliveryRoutes: readonly Route[] = [deliveries, targets]

type Letter = z.input<typeof DeadLettersResponse>['data'][number]

const deadLetters = defineGetRoute({
  ...common,
  path: '/api/v1/health/dead-letters',
  doc: 'Lists alerts and inbound events that could not be delivered, with the reason, newest first. Those for a webhook subscription are visible to its owner and to callers who may manage users',
  access: 'read',
  query: DeadLettersQuery,
  answer: DeadLettersResponse,
  handle: async ({ query: { stream, before, cursor, limit }, call }, gateway) => {
    const page = { before: cursor ?? before, limit }
    const { hosts, alerts, ingest } = gateway
    const alertLetters = async (): Promise<LetterPage<Letter>> => {
      const [nameOf, subscriptionsOf] = [await loadHostNames(hosts), await resolveSubscriptionScope(gateway, call)]
      const { letters, next } = await alerts.deadLetters({ ...page, subscriptionsOf }, call)
      return { letters: replaceHostKeys(letters, nameOf).map((letter) => ({ stream: 'DELIVER', ...letter })), next }
    }
    const eventLetters = async (): Promise<LetterPage<Letter>> => {
      const { letters, next } = await ingest.deadEvents(page, call)
      return { letters: letters.map((letter) => ({ stream: 'EVENTS', ...letter })), next }
    }
    const pages = await Promise.all([
      ...(stream === 'EVENTS' ? [] : [alertLetters()]),
      ...(stream === 'DELIVER' ? [] : [eventLetters()]),
    ])
    const { letters, next } = mergeDeadLetterPages(pages, page.limit)
    return createSuccessBody([...letters], { next, nextCursor: next })
  },
})

const replay = definePostRoute({
  ...common,
  path: '/api/v1/health/dead-letters/{id}/replay',
  doc: 'Delivers a dead letter again: an alert, unless its receiver got a later notification meanwhile, or an inbound event',
  access: 'write',
  query: noQuery,
  body: ReplayRequest,
  answer: ReplayResponse,
  handle: async ({ path: { id }, body: { stream }, call, requestId }, gateway) => {
    const { hosts, alerts, ingest, audit } = gateway
    const name = stream === 'EVENTS' ? 'replay-event' : 'replay-alert'
    const action = { action: name, host: null, target: { letter: id } }
    if (stream === 'EVENTS') {
      const letter = await audit.of(action, { call, requestId }, () => ingest.replayDeadEvent({ id }, call))
      return createSuccessBody({ stream, ...letter }, {})
    }
    const [nameOf, subscriptionsOf] = [await loadHostNames(hosts), await resolveSubscriptionScope(gateway, call)]
    const replayLetter = () => alerts.replayDeadLetter({ id, subscriptionsOf }, call)
    const letter = await audit.of(action, { call, requestId }, replayLetter)
    const { hostKey, ...shown } = letter
    return createSuccessBody({ stream, ...shown, ...findHostNameOrNull(hostKey, nameOf) }, {})
  },
})

/** Routes of dead letters. */
export const healthDeadLetterRoutes: readonly Route[] = [deadLetters, replay]

/** A page of dead letters, newest first. `next` is the cursor of the next page; null on the last page. */
interface LetterPage<T> {
  letters: readonly T[]
  next: string | null
}

/** Merges one page per kind into one page of at most `limit` dead letters. Ids increase with time across all kinds. */
export const mergeDeadLetterPages = <T extends { id: string }>(
  pages: readonly LetterPage<T>[],
  limit: number,
): LetterPage<T> => {
  // Below this id, one of the pages is incomplete, so letters with smaller ids are left for the next page.
  const completeFrom = Math.max(0, ...pages.map(({ next }) => Number(next ?? 0)))
  const all = pages.flatMap(({ letters }) => letters).filter(({ id }) => Number(id) >= completeFrom)
  const letters = all.toSorted((one, other) => Number(other.id) - Number(one.id)).slice(0, limit)
  if (letters.length < all.length) return { letters, next: letters.at(-1)?.id ?? null }
  return { letters, next: completeFrom > 0 ? String(completeFrom) : null }
}
