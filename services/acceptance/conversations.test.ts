import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AuditResponse } from '#proto/http/audit.ts'
import { ConversationResponse, ConversationsResponse, FollowUpsResponse } from '#proto/http/conversations.ts'
import { PruneResponse } from '#proto/http/cron.ts'
import { systemClock } from '#shared/time/clock.ts'
import { type ConvstoreServer, convstoreKey, startConvstore } from '#shared/convstore/testing/convstore-server.ts'
import {
  createGatewayVariables,
  type ScriptedGateway,
  startScriptedGateway,
} from '../agent/testing/scripted-gateway.ts'
import { type IdentityProvider, startIdentityProvider } from '../gateway/testing/identity-provider.ts'
import { createWebBuild } from '../gateway/testing/fake-product.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct, type Topology } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

/** The product needs a host, but conversations do not query it. Nothing listens at this address. */
const hosts = [{ url: 'http://127.0.0.1:9', name: 'silent' }]
const cronSecret = 'cron-secret-of-the-conversations'
const words = 'Warum sind die "merges" langsam? 🐘 \\ \u0000'
const conversation = (text = words) => ({
  hostId: 0,
  messages: [
    { id: 'm1', role: 'user', parts: [{ type: 'text', text }] },
    { id: 'm2', role: 'assistant', parts: [{ type: 'tool-query', toolCallId: 'c1', output: { rows: [[1]] } }] },
  ],
})

/** Starts a product that stores conversations, with an identity provider. */
const startKeeping = async (scope: AsyncDisposableStack, topology: Topology, env: Record<string, string>) => {
  const provider = scope.use(await startIdentityProvider(systemClock))
  const web = await createWebBuild({ CLIENT_FEATURE_CONVERSATION_DB: 'true' })
  scope.defer(() => rm(web, { recursive: true }))
  const signIn = { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: provider.url, SVC_WEB_DIRECTORY: web }
  const variables = { ...signIn, CRON_SECRET: cronSecret, ...env }
  const product = scope.use(await startProduct({ topology, hosts, agent: true, env: variables }))
  return { product, provider }
}

const senderFor =
  (product: Product, provider: IdentityProvider) =>
  async (who: string, method: string, path = '', body?: unknown) => {
    const headers = {
      authorization: `Bearer ${await provider.token({ sub: who })}`,
      'content-type': 'application/json',
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return fetchJson(`${product.url}/api/v1/conversations${path}`, init)
  }

const [ada, eve] = ['user_ada', 'user_eve']

describeOnTopologies('conversations of two users', (topology) => {
  const scope = new AsyncDisposableStack()
  let product: Product
  let send: ReturnType<typeof senderFor>
  let provider: IdentityProvider

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-kept-'))
    scope.defer(() => rm(directory, { recursive: true }))
    const edge = { CONVERSATIONS_EDGESQL: `file:${join(directory, 'edge.db')}` }
    ;({ product, provider } = await startKeeping(scope, topology, topology === 'memory' ? edge : {}))
    send = senderFor(product, provider)
  })
  afterAll(() => scope.disposeAsync())

  const idsOf = async (who: string) =>
    ConversationsResponse.parse((await send(who, 'GET', '?limit=100')).body)
      .data.map(({ id }) => id)
      .toSorted()

  it('are stored in the first available store, which the product names', async () => {
    const backend = topology === 'memory' ? 'edgesql' : 'postgres'
    expect((await send(ada, 'GET', '/backend')).body).toEqual({ backend, supportsAiEnrichment: false })
  })

  it('are returned unchanged, and titled by their first words', async () => {
    expect((await send(ada, 'PUT', '/one', conversation())).status).toBe(200)
    const { data } = ConversationResponse.parse((await send(ada, 'GET', '/one')).body)
    expect(data).toMatchObject({ ...conversation(), title: 'Warum sind die "merges" langsam? 🐘 \\', host: 'silent' })
  })

  it('are separated by user, even with equal ids', async () => {
    expect((await send(eve, 'GET', '/one')).status).toBe(404)
    expect((await send(eve, 'DELETE', '/one')).status).toBe(404)
    expect((await send(eve, 'PUT', '/one', conversation('mine'))).body).toMatchObject({ metadata: { created: true } })
    expect((await send(ada, 'GET', '/one')).body).toMatchObject({ data: { messages: conversation().messages } })
    expect([await idsOf(ada), await idsOf(eve)]).toEqual([['one'], ['one']])
  })

  it('are exported in full, by user and page', async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `more-${index}`)
    for (const id of ids) expect((await send(ada, 'PUT', `/${id}`, conversation(`of ada ${id}`))).status).toBe(200)
    const exported = await send(ada, 'GET', '/export')
    expect(exported.headers.get('content-disposition')).toMatch(/^attachment; filename="conversations-[\d-]+\.jsonl"$/)
    const lines = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ id }) => id).toSorted()).toEqual(['one', ...ids].toSorted())
    expect(lines.every(({ messages }) => messages.length === 2)).toBe(true)
    expect(exported.text).not.toContain('"mine"')
  })

  it('persist across a restart', async () => {
    await product.gateway.restart()
    const ids = await retryUntil(
      () => idsOf(ada),
      (found) => found.length > 0,
    )
    expect(ids).toContain('one')
  })

  it('are removed for one user only', async () => {
    expect((await send(ada, 'DELETE')).body).toMatchObject({ data: { removed: 25 } })
    expect([await idsOf(ada), await idsOf(eve)]).toEqual([[], ['one']])
    expect((await send(ada, 'GET', '/export')).text).toBe('')
    const headers = { authorization: `Bearer ${await provider.token({ sub: ada })}` }
    const { data } = AuditResponse.parse((await fetchJson(`${product.url}/api/v1/audit`, { headers })).body)
    expect(data).toContainEqual(expect.objectContaining({ action: 'remove-conversations', result: 'done' }))
  })

  it('are pruned when the scheduler requests it', async () => {
    const headers = { authorization: `Bearer ${cronSecret}` }
    const { body } = await fetchJson(`${product.url}/api/cron/retention-prune`, { headers })
    expect(PruneResponse.parse(body).data.removed.agent).toEqual({ conversations: 0 })
    expect(await idsOf(eve)).toEqual(['one'])
  })

  it('require a signed-in user, and leave no text in the log', async () => {
    const stranger = await fetchJson(`${product.url}/api/v1/conversations`)
    expect(stranger).toMatchObject({ status: 401, body: { error: { type: 'unauthenticated' } } })
    expect(product.output()).not.toMatch(/merges|of ada/)
  })
})

describeOnTopologies('conversations in the conversation service', (topology) => {
  const scope = new AsyncDisposableStack()
  let service: ConvstoreServer
  let gateway: ScriptedGateway
  let product: Product
  let send: ReturnType<typeof senderFor>

  beforeAll(async () => {
    service = scope.use(await startConvstore())
    gateway = scope.use(await startScriptedGateway({ script: [{ say: [{ text: 'Slow merges' }] }] }))
    const env = {
      CONVSTORE_API_KEY: convstoreKey,
      CONVSTORE_BASE_URL: service.url,
      CONVSTORE_AI_ENRICH: 'true',
      ...createGatewayVariables(gateway),
    }
    const started = await startKeeping(scope, topology, env)
    product = started.product
    send = senderFor(product, started.provider)
  })
  afterAll(() => scope.disposeAsync())

  it('are threads tagged with their owner, with a generated title and follow-up questions', async () => {
    expect((await send(ada, 'GET', '/backend')).body).toEqual({ backend: 'convstore', supportsAiEnrichment: true })
    expect((await send(ada, 'PUT', '/one', conversation())).status).toBe(200)
    await retryUntil(
      () => send(ada, 'GET', '/one'),
      ({ text }) => text.includes('"title":"Slow merges"'),
    )
    expect([...service.threads.values()]).toMatchObject([{ external_id: 'user_ada:one', tags: ['user:user_ada'] }])
    gateway.play([{ say: [{ text: '["Which table?"]' }] }])
    const { body } = await send(ada, 'GET', '/one/follow-ups')
    expect(FollowUpsResponse.parse(body).data).toEqual({ questions: ['Which table?'] })
    expect((await send(eve, 'GET', '/one/follow-ups')).status).toBe(404)
  })

  it('are removed for one user, with documented requests only', async () => {
    expect((await send(eve, 'PUT', '/one', conversation('of eve'))).status).toBe(200)
    expect((await send(ada, 'DELETE')).body).toMatchObject({ data: { removed: 1 } })
    expect([...service.threads.values()].map(({ external_id }) => external_id)).toEqual(['user_eve:one'])
    expect([...service.misuses, ...gateway.violations]).toEqual([])
  })

  it('wait while the service is unavailable, without an error', async () => {
    service.failing.set('', { status: 429, headers: { 'retry-after': '7' }, body: 'account acme' })
    const answer = await send(ada, 'GET', '/one')
    expect(answer).toMatchObject({ status: 503, body: { error: { type: 'busy' } } })
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(answer.text + product.output()).not.toMatch(/acme|as_live|127\.0\.0\.1:\d+\/api\/v1\/conversations\/by/)
  })
})
