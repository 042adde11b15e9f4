import { DeliveriesAnswer, DeliveriesQuery, TargetsAnswer } from '#proto/http/deliveries.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute, type Route } from '../route.ts'
import { success } from '../response/success.ts'
import { watchedHosts } from '../hosts/watched-hosts.ts'
import { shownOf } from '../hosts/shown-of.ts'

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

/** How people were told. */
export const healthDeliveryRoutes: readonly Route[] = [deliveries, targets]
