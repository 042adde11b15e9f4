import { ComparisonAnswer, ComparisonQuery, SettingsDiffAnswer, SettingsDiffQuery } from '#proto/http/comparison.ts'
import type { Host } from '#proto/query.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const common = { access: 'read', limit: 'data' } as const

const settingsDiff = getRoute({
  path: '/api/v1/settings-diff',
  doc: 'Server, session and MergeTree settings of several hosts side by side',
  feature: 'SETTINGS',
  ...common,
  query: SettingsDiffQuery,
  answer: SettingsDiffAnswer,
  handle: async ({ query: { hosts: ids, ...wanted }, call }, gateway) => {
    const hosts = await found(gateway, ids)
    const told = await gateway.query.settingsDiff({ hostKeys: hosts.map(({ key }) => key), ...wanted }, call)
    const rows = told.rows.map((row) => ({ ...row, values: byId(hosts, row.values) }))
    return success({ hosts: told.hosts.flatMap((host) => withName(hosts, host)), rows }, {})
  },
})

const compare = getRoute({
  path: '/api/v1/compare',
  doc: 'Key figures of several hosts side by side, and the patterns of queries on which they differ most',
  feature: 'QUERIES',
  ...common,
  query: ComparisonQuery,
  answer: ComparisonAnswer,
  handle: async ({ query: { hosts: ids, ...asked }, call }, gateway) => {
    const hosts = await found(gateway, ids)
    const told = await gateway.query.comparison({ hostKeys: hosts.map(({ key }) => key), ...asked }, call)
    const patterns = told.patterns.map((pattern) => ({ ...pattern, values: byId(hosts, pattern.values) }))
    const { window } = told
    return success({ hosts: told.hosts.flatMap((host) => withName(hosts, host)), patterns }, { window })
  },
})

const found = (gateway: Gateway, ids: readonly number[]): Promise<Host[]> =>
  Promise.all(ids.map((id) => gateway.hosts.find(id, 'hosts')))

const byId = <V>(hosts: readonly Host[], values: readonly V[]): Record<string, V | null> =>
  Object.fromEntries(hosts.map(({ id }, index) => [id, values[index] ?? null]))

/** Keys stay inside; callers know hosts by their position and name. */
const withName = <T extends { hostKey: string }>(hosts: readonly Host[], { hostKey, ...told }: T) =>
  hosts.filter(({ key }) => key === hostKey).map(({ id, name }) => ({ id, name, ...told }))

export const comparisonRoutes: readonly Route[] = [settingsDiff, compare]
