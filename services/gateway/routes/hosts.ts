import { mayUse, type Identity } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import { HostsAnswer, HostStatusAnswer, OverviewAnswer, CatalogueAnswer } from '#proto/http/data.ts'
import { noQuery, HostStatusQuery, HostQuery } from '#proto/http/parameters.ts'
import { getRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const hosts = getRoute({
  path: '/api/v1/hosts',
  doc: 'The configured hosts, without addresses or passwords',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: HostsAnswer,
  handle: async (_asked, gateway) => {
    const known = await gateway.hosts.all()
    return success(
      known.map(({ key: _key, ...host }) => host),
      {},
    )
  },
})

const hostStatus = getRoute({
  path: '/api/v1/host-status',
  doc: 'Version, uptime and host name as the host says them now',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: HostStatusQuery,
  answer: HostStatusAnswer,
  handle: async ({ query: { hostId, fleet }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { uptimeSeconds, ...status } = await gateway.query.hostStatus({ hostKey: key, fleet }, call)
    return success({ ...status, uptime: uptimeSeconds }, { host: name })
  },
})

const overview = getRoute({
  path: '/api/v1/overview',
  doc: 'The key figures of one host',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: HostQuery,
  answer: OverviewAnswer,
  handle: async ({ query: { hostId }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    return success(await gateway.query.overview({ hostKey: key }, call), { host: name })
  },
})

export const hostRoutes: readonly Route[] = [hosts, hostStatus, overview]

export const catalogue = getRoute({
  path: '/api/v1/catalogue',
  doc: 'Every chart and table page, for menus and generic pages',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: CatalogueAnswer,
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const all = await gateway.query.catalogue({}, call)
    return success(visibleTo(call.identity, all), {})
  },
})

/** The definitions whose features the caller may use: a menu must not lead to a refusal. */
export const visibleTo = (identity: Identity, { topics, charts, tables }: Catalogue): Catalogue => ({
  topics,
  charts: charts.filter(({ feature }) => mayUse(identity, feature)),
  tables: tables.filter(({ feature }) => mayUse(identity, feature)),
})
