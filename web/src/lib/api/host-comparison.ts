import { queryOptions } from '@tanstack/svelte-query'
import { call, type ResponseBody, type RouteData } from './call.ts'
import type { TimeWindowParameters } from './queries.ts'

export type Topology = ResponseBody<'GET /api/v1/cluster/topology'>
export type SettingsDiff = RouteData<'GET /api/v1/settings-diff'>
export type Comparison = RouteData<'GET /api/v1/compare'>

/** Query for the clusters as defined on one host. */
export const topologyQuery = (host: number) =>
  queryOptions({
    queryKey: ['topology', host],
    queryFn: ({ signal }) => call('GET /api/v1/cluster/topology', { query: { hostId: host }, signal }),
  })

/** A comparison needs at least two hosts. */
const minHosts = 2

export const settingsDiffQuery = (hosts: readonly number[]) =>
  queryOptions({
    queryKey: ['settings-diff', hosts.join()],
    enabled: hosts.length >= minHosts,
    queryFn: ({ signal }) => call('GET /api/v1/settings-diff', { query: { hosts: hosts.join() }, signal }),
  })

export const comparisonQuery = (hosts: readonly number[], window: TimeWindowParameters) => {
  const query = { hosts: hosts.join(), ...window }
  return queryOptions({
    queryKey: ['compare', query],
    enabled: hosts.length >= minHosts,
    queryFn: ({ signal }) => call('GET /api/v1/compare', { query, signal }),
  })
}
