import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import {
  ExecutionsResponse,
  ExecutionsQuery,
  QueryDetailResponse,
  QueryPatternChangesQuery,
  QueryPatternChangesResponse,
  QueryDetailPath,
  QueryDetailQuery,
  QueryPatternResponse,
  QueryPatternPath,
  QueryPatternQuery,
  QueryPatternsResponse,
  QueryPatternsQuery,
  ExplainResponse,
  ExplainQuery,
  ExplainRequest,
} from '#proto/http/analysis.ts'
import { ComparisonResponse, ComparisonQuery, SettingsDiffResponse, SettingsDiffQuery } from '#proto/http/comparison.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Host } from '#proto/query.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'

const common = { feature: 'QUERIES', access: 'read', limit: 'data' } as const

const queryPatterns = defineGetRoute({
  path: '/api/v1/insights/query-patterns',
  doc: 'Lists query patterns with their calls, times, errors and users',
  ...common,
  query: QueryPatternsQuery,
  answer: QueryPatternsResponse,
  handle: async ({ query: { hostId, cursor, offset: given, ...request }, call }, gateway) => {
    const { key } = await gateway.hosts.find(hostId)
    const offset = cursor ?? given
    const { fingerprints, statement, ...metadata } = await gateway.query.fingerprints(
      { hostKey: key, ...request, offset },
      call,
    )
    const end = (offset ?? 0) + fingerprints.length
    const nextCursor = fingerprints.length > 0 && end < (metadata.total ?? 0) ? String(end) : null
    return createSuccessBody(fingerprints, { ...statement, ...metadata, nextCursor })
  },
})

const queryPatternChanges = defineGetRoute({
  path: '/api/v1/insights/query-pattern-changes',
  doc: 'Compares the query patterns of two time ranges: slower, faster, new and vanished ones',
  ...common,
  query: QueryPatternChangesQuery,
  answer: QueryPatternChangesResponse,
  handle: async ({ query: { hostId, ...request }, call }, gateway) => {
    const { key } = await gateway.hosts.find(hostId)
    const { changes, statement, ...metadata } = await gateway.query.patternChanges({ hostKey: key, ...request }, call)
    return createSuccessBody(changes, { ...statement, ...metadata })
  },
})

const queryPattern = defineGetRoute({
  path: '/api/v1/insights/query-patterns/{hash}',
  doc: 'Returns one query pattern: metrics, time series, executions and failures',
  ...common,
  query: QueryPatternQuery,
  answer: QueryPatternResponse,
  handle: async ({ path, query: { hostId, ...request }, call }, gateway) => {
    const { hash } = parseRequestInput(QueryPatternPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    const { detail, ...metadata } = await gateway.query.fingerprint({ hostKey: key, hash, ...request }, call)
    return createSuccessBody(detail, { host: name, ...metadata })
  },
})

const queryExecutions = defineGetRoute({
  path: '/api/v1/insights/query-patterns/{hash}/executions',
  doc: 'Lists executions of one pattern within a range of durations, longest first',
  ...common,
  query: ExecutionsQuery,
  answer: ExecutionsResponse,
  handle: async ({ path, query: { hostId, ...request }, call }, gateway) => {
    const { hash } = parseRequestInput(QueryPatternPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    const { executions, ...metadata } = await gateway.query.executions({ hostKey: key, hash, ...request }, call)
    return createSuccessBody(executions, { host: name, ...metadata })
  },
})

const queryDetail = defineGetRoute({
  path: '/api/v1/queries/{queryId}',
  doc: 'Returns one query by its id, with all log entries about it',
  ...common,
  query: QueryDetailQuery,
  answer: QueryDetailResponse,
  handle: async ({ path, query: { hostId, lastHours }, call }, gateway) => {
    const { queryId } = parseRequestInput(QueryDetailPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    const { detail, unavailable } = await gateway.query.queryDetail({ hostKey: key, queryId, lastHours }, call)
    return createSuccessBody(detail, { host: name, unavailable })
  },
})

const explaining = {
  path: '/api/v1/explain',
  doc: 'Explains a statement, as text and as a tree',
  feature: 'QUERIES',
  // Write access, because the statement is SQL of the caller and EXPLAIN can execute parts of it.
  access: 'write',
  limit: 'data',
  answer: ExplainResponse,
} as const

const respond = async (request: z.output<typeof ExplainRequest>, call: CallContext, gateway: Gateway) => {
  const { hostId, ...parameters } = request
  const { key, name } = await gateway.hosts.find(hostId)
  const explained = await gateway.query.explain({ hostKey: key, ...parameters }, call)
  return createSuccessBody(explained, { host: name })
}

const explain = defineGetRoute({
  ...explaining,
  query: ExplainQuery,
  handle: ({ query, call }, gateway) => respond(query, call, gateway),
})

const explainLong = definePostRoute({
  ...explaining,
  query: noQuery,
  body: ExplainRequest,
  handle: ({ body, call }, gateway) => respond(body, call, gateway),
})

export const queryAnalysisRoutes: readonly Route[] = [
  queryPatterns,
  queryPatternChanges,
  queryPattern,
  queryExecutions,
  queryDetail,
  explain,
  explainLong,
]

const comparing = { access: 'read', limit: 'data' } as const

const settingsDiff = defineGetRoute({
  path: '/api/v1/settings-diff',
  doc: 'Compares server, session and MergeTree settings of several hosts',
  feature: 'SETTINGS',
  ...comparing,
  query: SettingsDiffQuery,
  answer: SettingsDiffResponse,
  handle: async ({ query: { hostId, hosts: older, ...parameters }, call }, gateway) => {
    const hosts = await findHosts(gateway, hostId, older)
    const result = await gateway.query.settingsDiff({ hostKeys: hosts.map(({ key }) => key), ...parameters }, call)
    const rows = result.rows.map((row) => ({ ...row, values: byId(hosts, row.values) }))
    return createSuccessBody({ hosts: result.hosts.flatMap((host) => withName(hosts, host)), rows }, {})
  },
})

const compare = defineGetRoute({
  path: '/api/v1/compare',
  doc: 'Compares key metrics of several hosts, and the query patterns that differ most',
  feature: 'QUERIES',
  ...comparing,
  query: ComparisonQuery,
  answer: ComparisonResponse,
  handle: async ({ query: { hostId, hosts: older, ...request }, call }, gateway) => {
    const hosts = await findHosts(gateway, hostId, older)
    const result = await gateway.query.comparison({ hostKeys: hosts.map(({ key }) => key), ...request }, call)
    const patterns = result.patterns.map((pattern) => ({ ...pattern, values: byId(hosts, pattern.values) }))
    const { window } = result
    return createSuccessBody({ hosts: result.hosts.flatMap((host) => withName(hosts, host)), patterns }, { window })
  },
})

/** Returns the hosts of `hostId`, or those of the older parameter `hosts`. */
const findHosts = (gateway: Gateway, ids: readonly number[] | undefined, older: readonly number[] = []) =>
  Promise.all((ids ?? older).map((id) => gateway.hosts.find(id, ids ? 'hostId' : 'hosts')))

const byId = <V>(hosts: readonly Host[], values: readonly V[]): Record<string, V | null> =>
  Object.fromEntries(hosts.map(({ id }, index) => [id, values[index] ?? null]))

/** Replaces host keys, which are internal, by position and name. */
const withName = <T extends { hostKey: string }>(hosts: readonly Host[], { hostKey, ...result }: T) =>
  hosts.filter(({ key }) => key === hostKey).map(({ id, name }) => ({ id, name, ...result }))

export const comparisonRoutes: readonly Route[] = [settingsDiff, compare]
