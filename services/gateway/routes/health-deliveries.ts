import { DeliveriesAnswer, DeliveriesQuery, TargetsAnswer } from '#proto/http/deliveries.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute, type Route } from '../route.ts'
import { success } from '../response/success.ts'
import { visibleSubscriptions } from '../subscriptions/subscriber.ts'
import { watchedHosts } from '../hosts/watched-hosts.ts'
import { shownOf } from '../hosts/shown-of.ts'

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
