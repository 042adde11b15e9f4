import { z } from 'zod'
import {
  DeadLettersAnswer,
  DeadLettersQuery,
  DeliveriesAnswer,
  DeliveriesQuery,
  ReplayAnswer,
  TargetsAnswer,
} from '#proto/http/deliveries.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute, postRoute, type Route } from '../route.ts'
import { success } from '../success.ts'
import { type NameHost, watchedHosts } from '../watched-hosts.ts'

const common = { feature: 'HEALTH', limit: 'data' } as const

const deliveries = getRoute({
  ...common,
  path: '/api/v1/health/deliveries',
  doc: 'Whom alerts were sent to, and what came of it; the newest first',
  access: 'read',
  query: DeliveriesQuery,
  answer: DeliveriesAnswer,
  handle: async ({ query: { before, limit, ...filter }, call }, { hosts, alerts }) => {
    const nameOf = await watchedHosts(hosts)
    const found = await alerts.deliveries({ ...filter, beforeMs: before, limit }, call)
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

const deadLetters = getRoute({
  ...common,
  path: '/api/v1/health/dead-letters',
  doc: 'Alerts that were given up, with the reason; the newest first',
  access: 'read',
  query: DeadLettersQuery,
  answer: DeadLettersAnswer,
  handle: async ({ query, call }, { hosts, alerts }) => {
    const nameOf = await watchedHosts(hosts)
    const { letters, next } = await alerts.deadLetters(query, call)
    return success(shownOf(letters, nameOf), { next })
  },
})

const replay = postRoute({
  ...common,
  path: '/api/v1/health/dead-letters/{id}/replay',
  doc: 'Sends an alert again that was given up, unless its receiver has been told of something later meanwhile',
  access: 'write',
  query: noQuery,
  body: z.strictObject({}),
  answer: ReplayAnswer,
  handle: async ({ path: { id }, call, requestId }, { hosts, alerts, audit }) => {
    const nameOf = await watchedHosts(hosts)
    const deed = { action: 'replay-alert', host: null, target: { letter: id } }
    const letter = await audit.of(deed, { call, requestId }, () => alerts.replayDeadLetter({ id }, call))
    const { hostKey, ...shown } = letter
    return success({ ...shown, ...namedOr(hostKey, nameOf) }, {})
  },
})

/** What is about hosts that the caller must not hear of is left out. */
const shownOf = <T extends { hostKey: string | null }>(found: readonly T[], nameOf: NameHost) =>
  found.flatMap(({ hostKey, ...shown }) => {
    const named = hostKey === null ? nobody : nameOf(hostKey)
    return named ? [{ ...shown, ...named }] : []
  })

const nobody = { hostId: null, host: null }

const namedOr = (hostKey: string | null, nameOf: NameHost) => (hostKey === null ? nobody : nameOf(hostKey)) ?? nobody

/** How people were told. */
export const healthDeliveryRoutes: readonly Route[] = [deliveries, targets, deadLetters, replay]
