import { mayUseFeature, type Identity } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import { HostsResponse, HostStatusResponse, OverviewResponse, CatalogueResponse } from '#proto/http/data.ts'
import { noQuery, HostStatusQuery, OverviewQuery } from '#proto/http/parameters.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const hosts = defineGetRoute({
  path: '/api/v1/hosts',
  doc: 'Lists the configured hosts, without addresses and passwords',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: HostsResponse,
  handle: async (_request, gateway) => {
    const configured = await gateway.hosts.all()
    return createSuccessBody(
      configured.map(({ key: _key, ...host }) => host),
      {},
    )
  },
})

const hostStatus = defineGetRoute({
  path: '/api/v1/host-status',
  doc: 'Queries the version, uptime and host name of one host',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: HostStatusQuery,
  answer: HostStatusResponse,
  handle: async ({ query: { hostId, fleet }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { uptimeSeconds, ...status } = await gateway.query.hostStatus({ hostKey: key, fleet }, call)
    return createSuccessBody({ ...status, uptime: uptimeSeconds }, { host: name })
  },
})

const overview = defineGetRoute({
  path: '/api/v1/overview',
  doc: 'Returns the key metrics of one host',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: OverviewQuery,
  answer: OverviewResponse,
  handle: async ({ query: { hostId, own }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    return createSuccessBody(await gateway.query.overview({ hostKey: key, own }, call), { host: name })
  },
})

export const hostRoutes: readonly Route[] = [hosts, hostStatus, overview]

export const catalogueRoute = defineGetRoute({
  path: '/api/v1/catalogue',
  doc: 'Lists every chart and table page, for menus and generic pages',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: CatalogueResponse,
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const all = await gateway.query.catalogue({}, call)
    return createSuccessBody(filterCatalogue(call.identity, all), {})
  },
})

/** Returns the definitions whose features the caller may use, so that menus contain no forbidden pages. */
export const filterCatalogue = (identity: Identity, { topics, charts, tables }: Catalogue): Catalogue => ({
  topics,
  charts: charts.filter(({ feature }) => mayUseFeature(identity, feature)),
  tables: tables.filter(({ feature }) => mayUseFeature(identity, feature)),
})
