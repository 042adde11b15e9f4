import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addDateTimes } from '#proto/http/date-times.ts'
import { agentRequests, conversationRequests, modelRequests, skillRequests } from './testing/agent.ts'
import {
  alertingRequests,
  createAuthRequests,
  type ValidRequest,
  createConnectionRequests,
} from './testing/valid-requests.ts'
import { createChatApplicationRequests, channelRequests, pagingServiceRequests } from './testing/channels.ts'
import { identityRequests, identityWebhookSecret } from './testing/identity-provider.ts'
import { createDashboardRequests } from './testing/dashboards.ts'
import { insightRequests, reportRequests } from './testing/reports.ts'
import { structureAdviceRequests } from './testing/advice.ts'
import { createRepositoryRequests } from './testing/repository-host.ts'
import { postgresRequests } from './testing/postgres-source.ts'
import { repldbRequests } from './testing/repldb.ts'
import { deliveryRequests, inboundConditionRequests, subscriptionRequests } from './testing/deliveries.ts'
import { type FakeProduct, startFakeProduct, createWebBuild } from './testing/fake-product.ts'
import { signApiKey } from './auth/keys/key-token.ts'
import { anonymousCaller } from './auth/identity.ts'
import type { Route } from './http-route.ts'
import { routes } from './routes.ts'
import { root } from '../testing/source-file.ts'
import {
  examplesPath,
  formatExamples,
  type OperationExample,
  readParameters,
  toExample,
} from '../generate/openapi/examples.ts'

const secret = 'the secret of the keys'
const claims = { jti: 'a'.repeat(16), sub: 'ada', label: 'laptop', scopes: ['read'], iat: 0, exp: 4_102_444_799 }

const nameOf = ({ method, path }: Route) => `${method} ${path}`

/** Requests and responses of these tests, which the OpenAPI document contains. `vitest -u` writes them to its file. */
const examples = new Map<string, OperationExample>()
const recordExample = (name: string, example: OperationExample) => {
  const known = examples.get(name)
  const given = Object.entries(example).filter(([, value]) => value !== undefined)
  examples.set(name, { ...known, ...Object.fromEntries(given.map(([key, value]) => [key, toExample(value)])) })
}

/** A valid request for every route. A GET without parameters needs no entry. */
const good: Record<string, ValidRequest> = {
  ...Object.fromEntries(
    routes
      .filter(({ method, path, query }) => method === 'GET' && !path.includes('{') && query.safeParse({}).success)
      .map((route) => [nameOf(route), { url: route.path }]),
  ),
  ...alertingRequests,
  ...deliveryRequests,
  ...insightRequests,
  ...conversationRequests,
  ...reportRequests,
  ...repldbRequests,
  ...structureAdviceRequests,
  ...channelRequests,
  ...postgresRequests,
  ...pagingServiceRequests,
  ...modelRequests,
  ...skillRequests,
  ...subscriptionRequests,
  ...createChatApplicationRequests(secret),
  ...createRepositoryRequests(secret),
  ...identityRequests,
  ...inboundConditionRequests,
  'GET /api/v1/host-status': { url: '/api/v1/host-status?hostId=0&fleet=1' },
  'GET /api/v1/overview': { url: '/api/v1/overview?hostId=1' },
  'POST /api/v1/hosts/check': { url: '/api/v1/hosts/check', body: { url: 'https://db.example.com' } },
  'POST /api/v1/hosts': { url: '/api/v1/hosts', body: { url: 'https://db.example.com', label: 'added' } },
  'PUT /api/v1/hosts/{id}': { url: `/api/v1/hosts/${'a'.repeat(22)}`, body: { label: 'added' } },
  'DELETE /api/v1/hosts/{id}': { url: `/api/v1/hosts/${'a'.repeat(22)}` },
  'POST /api/v1/page-views': { url: '/api/v1/page-views', body: { page: '/tables/[name]' } },
  'GET /api/v1/charts/{name}': { url: '/api/v1/charts/query-count' },
  'POST /api/v1/charts/batch': { url: '/api/v1/charts/batch', body: { names: ['query-count', 'x'] } },
  'GET /api/v1/insights/query-patterns': { url: '/api/v1/insights/query-patterns?order=p95' },
  'GET /api/v1/insights/query-patterns/{hash}': { url: '/api/v1/insights/query-patterns/18446744073709551615' },
  'GET /api/v1/insights/query-patterns/{hash}/executions': {
    url: '/api/v1/insights/query-patterns/18446744073709551615/executions?minMs=100&maxMs=200',
  },
  'POST /api/v1/advice': { url: '/api/v1/advice', body: { query: 'SELECT 1' } },
  'GET /api/v1/queries/{queryId}': { url: '/api/v1/queries/a%2Fb%20c' },
  'GET /api/v1/metrics': { url: '/api/v1/metrics?host[]=0&group=eu&match[]=clickhouse_query' },
  'GET /api/v1/explain': { url: '/api/v1/explain?query=SELECT%201&mode=' },
  'POST /api/v1/explain': { url: '/api/v1/explain', body: { query: 'SELECT 1' } },
  'POST /api/v1/explorer/query': { url: '/api/v1/explorer/query', body: { query: 'SELECT 1' } },
  'DELETE /api/v1/explorer/query/{runId}': { url: '/api/v1/explorer/query/mine' },
  'GET /api/v1/explorer/tables': { url: '/api/v1/explorer/tables?database=shop&search=o' },
  'GET /api/v1/explorer/table': { url: '/api/v1/explorer/table?database=shop&table=orders' },
  'GET /api/v1/explorer/indexes': { url: '/api/v1/explorer/indexes?database=shop&table=orders' },
  'GET /api/v1/explorer/columns': { url: '/api/v1/explorer/columns?database=shop&table=orders' },
  'GET /api/v1/explorer/ddl': { url: '/api/v1/explorer/ddl?database=shop&table=orders' },
  'GET /api/v1/explorer/skip-indexes': { url: '/api/v1/explorer/skip-indexes?database=shop&table=orders' },
  'GET /api/v1/explorer/projections': { url: '/api/v1/explorer/projections?database=shop&table=orders' },
  'GET /api/v1/explorer/parts': { url: '/api/v1/explorer/parts?database=shop&table=orders&inactive=1&limit=5' },
  'GET /api/v1/explorer/dependencies': { url: '/api/v1/explorer/dependencies?database=shop&table=orders' },
  'GET /api/v1/explorer/usage': { url: '/api/v1/explorer/usage?database=shop&table=orders&lastHours=24' },
  'GET /api/v1/explorer/query-log': { url: '/api/v1/explorer/query-log?database=shop&table=orders&limit=5' },
  'GET /api/v1/explorer/preview': { url: '/api/v1/explorer/preview?database=shop&table=orders&limit=2' },
  'GET /api/v1/cluster/topology': { url: '/api/v1/cluster/topology?hostId=1&cluster=shop' },
  'GET /api/v1/settings-diff': { url: '/api/v1/settings-diff?hosts=1,0&changedOnly=1' },
  'GET /api/v1/schema-diff': { url: '/api/v1/schema-diff?baseHostId=0&targetHostId=1&database=shop' },
  'GET /api/v1/compare': { url: '/api/v1/compare?hosts=0,1&limit=5' },
  'GET /api/v1/own-cost': { url: '/api/v1/own-cost?lastHours=48' },
  'POST /api/v1/actions': {
    url: '/api/v1/actions?hostId=0',
    body: { action: 'killQuery', params: { queryId: 'runaway' } },
  },
  'POST /api/v1/management': {
    url: '/api/v1/management?hostId=0',
    body: { operation: 'create_user', params: { user: 'grace', password: 'correct horse' } },
  },
  'GET /api/v1/audit': { url: '/api/v1/audit?limit=10' },
  'POST /api/v1/auth/session': { url: '/api/v1/auth/session', body: { key: signApiKey(claims, secret) } },
  'DELETE /api/v1/auth/session': { url: '/api/v1/auth/session' },
  'GET /api/v1/auth/sign-in': { url: '/api/v1/auth/sign-in?return=/overview' },
  'GET /api/v1/auth/callback': { url: '/api/v1/auth/callback?state=s', cookie: 'watchhouse_sign_in=s' },
  'GET /api/cron/health-sweep': { url: '/api/cron/health-sweep', bearer: secret },
  'GET /api/cron/retention-prune': { url: '/api/cron/retention-prune', bearer: secret },
  'POST /api/events/ingest': { url: '/api/events/ingest', body: { title: 'Disk full' }, bearer: secret },
  'GET /api/v1/events': { url: '/api/v1/events?severity=critical&search=disk&limit=5' },
  'GET /api/cron/weekly-report': { url: '/api/cron/weekly-report', bearer: secret },
  'POST /api/mcp': {
    url: '/api/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    bearer: signApiKey(claims, secret),
  },
  'GET /api/mcp': { url: '/api/mcp', bearer: signApiKey(claims, secret) },
  'DELETE /api/mcp': { url: '/api/mcp', bearer: signApiKey(claims, secret) },
  'POST /api/v1/mcp/messages': { url: '/api/v1/mcp/messages', body: { jsonrpc: '2.0', id: 1, method: 'ping' } },
  ...agentRequests,
  'GET /api/v1/docs/{page}': { url: '/api/v1/docs/getting-started' },
  'GET /api/v1/tables/{name}': { url: '/api/v1/tables/running-queries' },
  'GET /api/v1/tables/{name}/filter-options': { url: '/api/v1/tables/running-queries/filter-options?column=user' },
}

let product: FakeProduct
let directory: string
let webDirectory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-routes-'))
  // Authentication is required and every sign-in method is enabled, so that every route can respond.
  const env = {
    SVC_AUTH_PROVIDER: 'idp',
    IDP_OAUTH_ISSUER: 'https://clerk.example.com',
    SVC_API_KEY_SECRET: secret,
    CRON_SECRET: secret,
    SVC_EVENTS_INGEST_TOKEN: secret,
    CHATAPP_SIGNING_SECRET: secret,
    REPO_HOST_WEBHOOK_SECRET: secret,
    IDP_WEBHOOK_SECRET: identityWebhookSecret,
    SVC_DEVICE_LOGIN: 'true',
    RATE_LIMIT_DEVICE_CODE_PER_MIN: '1000',
    SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
    SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: 'true',
    IDP_SECRET_KEY: 'sk_test_x',
    CONVERSATIONS_EDGESQL: `file:${directory}/edge.db`,
    SVC_STATE_DB_URL: `file:${directory}/state.db`,
  }
  const identify = async () => ({ kind: 'user', subject: 'ada', features: 'all' }) as const
  webDirectory = await createWebBuild({ CLIENT_FEATURE_CONVERSATION_DB: 'true' })
  product = await startFakeProduct({
    env,
    identify,
    alerts: {},
    report: {},
    mcp: {},
    ingest: {},
    agent: {},
    webDirectory,
  })
})
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
  await rm(webDirectory, { recursive: true })
})

const send = async (
  method: string,
  { url, body, cookie = '', bearer, raw, headers: more }: ValidRequest,
): Promise<Response> => {
  const authorization = bearer && { authorization: `Bearer ${bearer}` }
  const headers = { 'content-type': 'application/json', cookie, ...authorization, ...more }
  return fetch(product.url + url, { method, body: raw ?? JSON.stringify(body), headers, redirect: 'manual' })
}
const post = async (request: ValidRequest) => (await send('POST', request)).json()
const prepared: ReturnType<typeof createConnectionRequests> = {
  ...createAuthRequests(post, secret),
  ...createConnectionRequests(post),
  ...createDashboardRequests(post),
}

describe('the route table', () => {
  it('has each method of a path once', () => {
    const names = routes.map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    expect(names.toSorted()).toEqual(Object.keys({ ...good, ...prepared }).toSorted())
  })

  const sendTo = async (name: string, { method, path }: Route) => {
    const request = good[name] ?? (await prepared[name]?.()) ?? { url: '' }
    recordExample(name, { request: request.body, parameters: readParameters(path, request.url) })
    return send(method, request)
  }
  const [redirecting, answering] = [true, false].map((redirects) =>
    routes
      // Routes that reject every request have no response schema.
      .filter(({ answer }) => answer.type !== 'never' && (answer.type === 'undefined') === redirects)
      .map((route) => [nameOf(route), route] as const),
  )

  it.each(redirecting ?? [])('%s redirects', async (name, route) => {
    const response = await sendTo(name, route)
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toMatch(/^https?:\/\//)
  })

  it.each(answering ?? [])('%s returns a response that matches its schema', async (name, route) => {
    const response = await sendTo(name, route)
    expect(response.status).toBe(route.status ?? 200)
    expect(response.headers.get('content-type')).toBe(route.mediaType ?? 'application/json')
    const body: unknown = route.answer.type === 'string' ? await response.text() : await response.json()
    recordExample(name, { response: body })
    const parsed: unknown = route.answer.parse(body)
    expect(typeof parsed === 'string' ? parsed : JSON.parse(addDateTimes(JSON.stringify(parsed)))).toEqual(body)
  })

  it('has an example of every operation, as the tests above received it', async () => {
    const answered = routes.filter(({ answer }) => answer.type !== 'never' && answer.type !== 'undefined')
    expect(answered.map(nameOf).filter((name) => !examples.has(name))).toEqual([])
    await expect(formatExamples(examples)).toMatchFileSnapshot(join(root, examplesPath))
  })

  // Routes with `own-bearer` are left out, because they check their bearer token before the feature.
  const guarded = routes.filter(({ feature, access }) => feature !== null && access !== 'own-bearer')
  it.each(guarded.map((route) => [nameOf(route)]))('%s returns 403 to a caller without its feature', async (name) => {
    await using strict = await startFakeProduct({ identify: async () => ({ ...anonymousCaller, features: ['ABOUT'] }) })
    const [method, path = ''] = name.split(' ')
    // Prepared requests need access. The feature is checked first, so any request to their path will do.
    const { url, body } = good[name] ?? { url: path.replaceAll(/\{\w+\}/g, 'x'), body: undefined }
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(strict.url + url, { method, headers, body: JSON.stringify(body) })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ success: false, error: { type: 'forbidden' } })
    expect(strict.received).toEqual([])
  })
})
