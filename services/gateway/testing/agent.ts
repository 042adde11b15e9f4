import { hash } from 'node:crypto'
import { agent } from '#proto/agent.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { Conversation, conversationMethods } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ModelSettings, OfferedModel } from '#proto/models.ts'
import type { ValidRequest } from './valid-requests.ts'
import { decryptTransitSecret, fakeTransitKey } from './transit-key.ts'
import { createSampleHandlers } from './schema-samples.ts'

/** Id of the only run. */
export const fakeRunId = `agent.${'r'.repeat(22)}`
/** Id of the only approval request of the run. */
export const fakeApprovalId = `${fakeRunId}.1`

const events = ['{"type":"start","messageId":"m"}', '{"type":"finish","finishReason":"stop"}', '[DONE]']

type Runs = Pick<
  ServiceHandlers<typeof agent>,
  'start' | 'read' | 'stop' | 'takeApproval' | 'resolveApproval' | 'decideEgress'
>

/** Runs with a start and a finish event, and one pending approval request to kill a query. */
export const fakeRuns: Runs = {
  start: async () => ({ runId: fakeRunId }),
  read: async ({ after }) => ({
    events: events
      .map((data, index) => `id: ${index + 1}\ndata: ${data}\n\n`)
      .slice(after)
      .join(''),
    last: events.length,
    ended: true,
  }),
  stop: async () => ({ stopped: true }),
  takeApproval: async () => ({ tool: 'kill_query', hostKey: 'analytics', input: { queryId: 'runaway' } }),
  resolveApproval: async () => ({}),
  decideEgress: async () => ({}),
}

/** A valid request for every route of agent runs. */
export const agentRequests: Record<string, ValidRequest> = {
  'POST /api/v1/agent': { url: '/api/v1/agent', body: { message: 'Is it well?', hostId: 1 } },
  'GET /api/v1/agent/{id}/stream': { url: `/api/v1/agent/${fakeRunId}/stream` },
  'POST /api/v1/agent/{id}/stop': { url: `/api/v1/agent/${fakeRunId}/stop`, body: {} },
  'POST /api/v1/agent/approvals/{id}': {
    url: `/api/v1/agent/approvals/${fakeApprovalId}`,
    body: { approved: true },
  },
  'POST /api/v1/agent/egress/{id}': {
    url: `/api/v1/agent/egress/${fakeApprovalId}`,
    body: { approved: true },
  },
}

const conversation: Conversation = {
  id: 'c1',
  title: 'Slow merges',
  hostKey: 'logs',
  model: 'gateway_a:some/model',
  messageCount: 1,
  createdAtMs: 1_790_000_000_000,
  updatedAtMs: 1_790_000_000_001,
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Why are merges slow?' }] }],
  evidence: [],
}
const { messages: _messages, evidence: _evidence, ...summary } = conversation
const removedHost = { ...conversation, id: 'c2', hostKey: 'a removed host' }

const require = (id: string): void => {
  if (id !== conversation.id) throw new ServiceError('not-found', 'conversation not found')
}

/** A user with one conversation; the export contains another one about a removed host. */
const fakeConversations = {
  conversationBackend: async () => ({ backend: 'convstore', supportsAiEnrichment: true }),
  conversations: async ({ cursor }) => ({ conversations: [summary], next: cursor === undefined ? '1.c1' : null }),
  conversation: async ({ id }) => {
    require(id)
    return conversation
  },
  exportConversations: async ({ cursor }) =>
    cursor === undefined
      ? { conversations: [conversation], next: '1.c1' }
      : { conversations: [removedHost], next: null },
  keepConversation: async ({ id, hostKey, title = summary.title }) => ({
    created: id !== conversation.id,
    conversation: { ...summary, id, hostKey, title },
  }),
  removeConversation: async ({ id }) => {
    require(id)
    return {}
  },
  removeConversations: async () => ({ removed: 1 }),
  followUps: async ({ id }) => {
    require(id)
    return { questions: ['Which table is it?'] }
  },
} satisfies Partial<ServiceHandlers<Service<typeof conversationMethods>>>

const base = '/api/v1/conversations'

/** A valid request for every route of conversations. */
export const conversationRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${base}/backend`]: { url: `${base}/backend` },
  [`GET ${base}/export`]: { url: `${base}/export` },
  [`GET ${base}`]: { url: `${base}?limit=5&cursor=1.c1` },
  [`DELETE ${base}`]: { url: base },
  [`GET ${base}/{id}`]: { url: `${base}/c1` },
  [`PUT ${base}/{id}`]: { url: `${base}/c1`, body: { hostId: 1, messages: conversation.messages } },
  [`DELETE ${base}/{id}`]: { url: `${base}/c1` },
  [`GET ${base}/{id}/follow-ups`]: { url: `${base}/c1/follow-ups` },
}

const free: OfferedModel = {
  id: 'gateway_a:gateway_a/free',
  modelId: 'gateway_a/free',
  provider: 'gateway_a',
  name: 'Free',
  description: '',
  source: 'built-in',
  contextLength: 131_072,
  formattedContextLength: '131K',
  isFree: true,
  available: true,
  pricing: { inputPerMillion: 0, outputPerMillion: 0 },
  supportsTools: true,
  supportsStreaming: true,
  supportsVision: null,
}
const signedOut = { provider: 'gateway_c', possible: true, reason: null, signedIn: false, expiresAtMs: null } as const

/** OAuth state of the only pending sign-in. */
const signInState = 's'.repeat(43)

const storedModelSettings: ModelSettings = {
  problem: null,
  fields: [
    { field: 'apiKey', variable: 'LLM_API_KEY', isSecret: true, value: '••••', source: 'database' },
    { field: 'baseUrl', variable: 'LLM_API_BASE', isSecret: false, value: null, source: 'default' },
    { field: 'model', variable: 'LLM_MODEL', isSecret: false, value: free.id, source: 'environment' },
  ],
}

/** An agent with one model, and a pending sign-in with AnyRouter. */
const fakeModels = {
  models: async () => ({ models: [free], configuredProviders: ['gateway_a'], defaultModel: free.id }),
  modelCheck: async () => ({ active: true, defaultModel: free.id, providers: [], notes: ['Nothing.'] }),
  modelSettings: async () => storedModelSettings,
  modelSecretsKey: async () => fakeTransitKey,
  updateModelSettings: async ({ settings, encrypted }) => {
    if ('apiKey' in settings) throw new ServiceError('internal', 'a secret in clear text')
    if (encrypted !== undefined) await decryptTransitSecret(encrypted)
    return storedModelSettings
  },
  deleteModelSettings: async () => ({ ...storedModelSettings, fields: [] }),
  testModelSettings: async ({ settings, encrypted, isCallerLocal }) => ({
    isOk: encrypted !== undefined,
    reason: encrypted === undefined ? 'the model gateway rejects the API key (HTTP 401)' : null,
    model: settings.model ?? (isCallerLocal ? 'gateway_a:local' : free.id),
    tookMs: 12,
  }),
  modelSignIn: async () => signedOut,
  beginModelSignIn: async ({ redirectUri, returnTo }) => ({
    url: `https://gateway-c.example/authorize?${new URLSearchParams({ redirect_uri: redirectUri, return_to: returnTo })}`,
  }),
  endModelSignIn: async ({ state, query }) => {
    if (state !== signInState)
      throw new ServiceError('conflict', 'AnyRouter sign-in expired or started by another user; start again')
    return { returnTo: '/agents?chat=1#end', signedIn: new URLSearchParams(query).has('code') }
  },
  endModelSession: async () => signedOut,
  probeServer: async ({ name }) => ({
    ok: false,
    error: `${name} cannot be reached`,
    tools: [],
    leftOut: 0,
    tookMs: 3,
  }),
} satisfies Partial<ServiceHandlers<typeof agent>>

const signIn = '/api/v1/agents/sign-in'
const settings = '/api/v1/agents/settings'
const server = { id: 'docs', name: 'Docs', endpoint: 'https://docs.example.com/mcp' }

/** A valid request for every route of models and MCP servers. */
export const modelRequests: Readonly<Record<string, ValidRequest>> = {
  'GET /api/v1/agents/models': { url: '/api/v1/agents/models' },
  'GET /api/v1/agents/config-check': { url: '/api/v1/agents/config-check' },
  'GET /api/v1/agents/sign-in': { url: signIn },
  'POST /api/v1/agents/sign-in': { url: signIn, body: { return: '/agents?chat=1' } },
  'DELETE /api/v1/agents/sign-in': { url: signIn },
  'GET /api/v1/agents/sign-in/callback': { url: `${signIn}/callback?code=c&state=${signInState}` },
  'GET /api/v1/agents/settings': { url: settings },
  'PUT /api/v1/agents/settings': { url: settings, body: { model: 'gateway_a:one' } },
  'DELETE /api/v1/agents/settings': { url: settings },
  'POST /api/v1/agents/settings/test': { url: `${settings}/test`, body: { apiKey: 'sk-key' } },
  'POST /api/v1/mcp/probe': { url: '/api/v1/mcp/probe', body: server },
}

const name = 'count-parts'
const description = 'Counts parts.'
/** Contains multi-byte characters, because a digest is computed from bytes. */
const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# Parts ≥ 1\n`
const digest = `sha256:${hash('sha256', text)}`

/** An agent with one skill. */
const fakeSkills = {
  skills: async () => ({ skills: [{ name, description, digest }] }),
  skill: async (input) => {
    if (input.name !== name) throw new ServiceError('not-found', `unknown skill "${input.name}"`)
    return { name, description, digest, text }
  },
} satisfies Partial<ServiceHandlers<typeof agent>>

/** A valid request for every route of skills. */
export const skillRequests: Readonly<Record<string, ValidRequest>> = {
  'GET /api/v1/agent/skills': { url: '/api/v1/agent/skills' },
  'GET /api/v1/agent/skills/{name}': { url: `/api/v1/agent/skills/${name}` },
  'GET /.well-known/agent-skills/index.json': { url: '/.well-known/agent-skills/index.json' },
  'GET /.well-known/agent-skills/{name}/SKILL.md': { url: `/.well-known/agent-skills/${name}/SKILL.md` },
}

/** An `agent` service with conversations, models and skills. */
export const fakeAgent: ServiceHandlers<typeof agent> = {
  ...createSampleHandlers(agent),
  ...fakeRuns,
  prune: async () => ({ removed: { conversations: 3 } }),
  ...fakeConversations,
  ...fakeModels,
  ...fakeSkills,
  summarize: async () => ({ summary: 'All is well.' }),
}
