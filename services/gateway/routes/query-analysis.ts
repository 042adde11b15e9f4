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
} from '#proto/http/analysis.ts'
import { parse } from '../request/parse.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

const common = { feature: 'QUERIES', access: 'read', limit: 'data' } as const

export const queryPatterns = getRoute({
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

export const queryPattern = getRoute({
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

export const queryExecutions = getRoute({
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

export const queryDetail = getRoute({
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
