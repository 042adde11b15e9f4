import {
  QueryDetailAnswer,
  QueryDetailPath,
  QueryDetailQuery,
  QueryPatternAnswer,
  QueryPatternPath,
  QueryPatternQuery,
  QueryPatternsAnswer,
  QueryPatternsQuery,
} from '#proto/http/analysis.ts'
import { parse } from '../parse.ts'
import { getRoute } from '../route.ts'
import { success } from '../success.ts'

const common = { feature: 'QUERIES', access: 'read', limit: 'data' } as const

export const queryPatterns = getRoute({
  path: '/api/v1/insights/query-patterns',
  ...common,
  query: QueryPatternsQuery,
  answer: QueryPatternsAnswer,
  handle: async ({ query: { hostId, ...asked }, call }, gateway) => {
    const { key } = await gateway.hosts.find(hostId)
    const { fingerprints, statement, ...metadata } = await gateway.query.fingerprints({ hostKey: key, ...asked }, call)
    return success(fingerprints, { ...statement, ...metadata })
  },
})

export const queryPattern = getRoute({
  path: '/api/v1/insights/query-patterns/{hash}',
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

export const queryDetail = getRoute({
  path: '/api/v1/queries/{queryId}',
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
