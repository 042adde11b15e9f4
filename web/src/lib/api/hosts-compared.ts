import { queryOptions } from '@tanstack/svelte-query'
import { call, type Answer, type Data } from './call.ts'
import type { WindowQuery } from './queries.ts'

export type Topology = Answer<'GET /api/v1/cluster/topology'>
export type SettingsDiff = Data<'GET /api/v1/settings-diff'>
export type Comparison = Data<'GET /api/v1/compare'>

/** Clusters as one host knows them. */
export const topologyQuery = (host: number) =>
  queryOptions({
    queryKey: ['topology', host],
    queryFn: ({ signal }) => call('GET /api/v1/cluster/topology', { query: { hostId: host }, signal }),
  })

/** Fewer cannot be set side by side. */
const fewest = 2

export const settingsDiffQuery = (hosts: readonly number[]) =>
  queryOptions({
    queryKey: ['settings-diff', hosts.join()],
    enabled: hosts.length >= fewest,
    queryFn: ({ signal }) => call('GET /api/v1/settings-diff', { query: { hosts: hosts.join() }, signal }),
  })

export const comparisonQuery = (hosts: readonly number[], window: WindowQuery) => {
  const query = { hosts: hosts.join(), ...window }
  return queryOptions({
    queryKey: ['compare', query],
    enabled: hosts.length >= fewest,
    queryFn: ({ signal }) => call('GET /api/v1/compare', { query, signal }),
  })
}
