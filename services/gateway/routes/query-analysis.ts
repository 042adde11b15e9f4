import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import {
  ExecutionsAnswer,
  ExecutionsQuery,
  QueryDetailAnswer,
  QueryDetailPath,
  QueryDetailQuery,
  QueryPatternAnswer,
  QueryPatternPath,
  QueryPatternQuery,
  QueryPatternsAnswer,
  QueryPatternsQuery,
  ExplainAnswer,
  ExplainQuery,
  ExplainRequest,
} from '#proto/http/analysis.ts'
import { ComparisonAnswer, ComparisonQuery, SettingsDiffAnswer, SettingsDiffQuery } from '#proto/http/comparison.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Host } from '#proto/query.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/envelope.ts'

const common = { feature: 'QUERIES', access: 'read', limit: 'data' } as const

const queryPatterns = getRoute({
  path: '/api/v1/insights/query-patterns',
  doc: 'Patterns of statements with their calls, times, errors and users',
  ...common,
  query: QueryPatternsQuery,
  answer: QueryPatternsAnswer,
  handle: async ({ query: { hostId, ...asked }, call }, gateway) => {
    const { key } = await gateway.hosts.find(hostId)
    const { fingerprints, statement, ...metadata } = await gateway.query.fingerprints({ hostKey: key, ...asked }, call)
    return success(fingerprints, { ...statement, ...metadata })
  },
})

const queryPattern = getRoute({
  path: '/api/v1/insights/query-patterns/{hash}',
  doc: 'One pattern of statements: its figures, their course, executions and failures',
  ...common,
  query: QueryPatternQuery,
  answer: QueryPatternAnswer,
  handle: async ({ path, query: { hostId, ...asked }, call }, gateway) => {
    const { hash } = parse(QueryPatternPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    const { detail, ...metadata } = await gateway.query.fingerprint({ hostKey: key, hash, ...asked }, call)
    return success(detail, { host: name, ...metadata })
  },
})

const queryExecutions = getRoute({
  path: '/api/v1/insights/query-patterns/{hash}/executions',
  doc: 'Executions of one pattern that took so long, longest first',
  ...common,
  query: ExecutionsQuery,
  answer: ExecutionsAnswer,
  handle: async ({ path, query: { hostId, ...asked }, call }, gateway) => {
    const { hash } = parse(QueryPatternPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    const { executions, ...metadata } = await gateway.query.executions({ hostKey: key, hash, ...asked }, call)
    return success(executions, { host: name, ...metadata })
  },
})

const queryDetail = getRoute({
  path: '/api/v1/queries/{queryId}',
  doc: 'One query by its id, with everything the logs know of it',
  ...common,
  query: QueryDetailQuery,
  answer: QueryDetailAnswer,
  handle: async ({ path, query: { hostId, lastHours }, call }, gateway) => {
    const { queryId } = parse(QueryDetailPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    const { detail, unavailable } = await gateway.query.queryDetail({ hostKey: key, queryId, lastHours }, call)
    return success(detail, { host: name, unavailable })
  },
})

const explaining = {
  path: '/api/v1/explain',
  doc: 'What the host would do with a statement, as text and as a tree',
  feature: 'QUERIES',
  // What is explained is SQL of the caller's own, and analysing it runs parts of it.
  access: 'write',
  limit: 'data',
  answer: ExplainAnswer,
} as const

const ask = async (asked: z.output<typeof ExplainRequest>, call: Call, gateway: Gateway) => {
  const { hostId, ...question } = asked
  const { key, name } = await gateway.hosts.find(hostId)
  const explained = await gateway.query.explain({ hostKey: key, ...question }, call)
  return success(explained, { host: name })
}

const explain = getRoute({
  ...explaining,
  query: ExplainQuery,
  handle: ({ query, call }, gateway) => ask(query, call, gateway),
})

const explainLong = postRoute({
  ...explaining,
  query: noQuery,
  body: ExplainRequest,
  handle: ({ body, call }, gateway) => ask(body, call, gateway),
})

export const queryAnalysisRoutes: readonly Route[] = [
  queryPatterns,
  queryPattern,
  queryExecutions,
  queryDetail,
  explain,
  explainLong,
]

const ofHosts = { access: 'read', limit: 'data' } as const

const settingsDiff = getRoute({
  path: '/api/v1/settings-diff',
  doc: 'Server, session and MergeTree settings of several hosts side by side',
  feature: 'SETTINGS',
  ...ofHosts,
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
  ...ofHosts,
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
