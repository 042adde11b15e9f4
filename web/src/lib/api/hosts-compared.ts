import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { TopologyAnswer } from '#proto/http/cluster.ts'
import type { ComparisonAnswer, SettingsDiffAnswer } from '#proto/http/comparison.ts'
import type { WindowQuery } from './queries.ts'
import { requestJson } from './request.ts'

export type Topology = z.infer<typeof TopologyAnswer>
export type SettingsDiff = z.infer<typeof SettingsDiffAnswer>['data']
export type Comparison = z.infer<typeof ComparisonAnswer>['data']

/** Clusters as one host knows them. */
export const topologyQuery = (host: number) =>
  queryOptions({
    queryKey: ['topology', host],
    queryFn: ({ signal }) => requestJson<Topology>(`/api/v1/cluster/topology?hostId=${host}`, { signal }),
  })

/** Fewer cannot be set side by side. */
const fewest = 2

export const settingsDiffQuery = (hosts: readonly number[]) =>
  queryOptions({
    queryKey: ['settings-diff', hosts.join()],
    enabled: hosts.length >= fewest,
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof SettingsDiffAnswer>>(`/api/v1/settings-diff?hosts=${hosts.join()}`, { signal }),
  })

export const comparisonQuery = (hosts: readonly number[], window: WindowQuery) => {
  const spans = Object.entries(window).map(([name, value]): [string, string] => [name, String(value)])
  const search = new URLSearchParams([['hosts', hosts.join()], ...spans])
  return queryOptions({
    queryKey: ['compare', search.toString()],
    enabled: hosts.length >= fewest,
    queryFn: ({ signal }) => requestJson<z.infer<typeof ComparisonAnswer>>(`/api/v1/compare?${search}`, { signal }),
  })
}
