import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import type { externalToolMethods } from '#proto/external-tools.ts'
import { ServiceError } from '#proto/errors.ts'
import type { modelMethods, OfferedModel } from '#proto/models.ts'
import type { GoodRequest } from './auth-requests.ts'

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

/** The state that the one sign-in of the fake began with. */
const begunWith = 's'.repeat(43)

/** An agent with one model, and a gateway C that somebody began to sign in with. */
export const fakeModels: Pick<Handlers<typeof agent>, keyof typeof modelMethods | keyof typeof externalToolMethods> = {
  models: async () => ({ models: [free], configuredProviders: ['gateway_a'], defaultModel: free.id }),
  modelCheck: async () => ({ active: true, defaultModel: free.id, providers: [], notes: ['Nothing.'] }),
  modelSignIn: async () => signedOut,
  beginModelSignIn: async ({ redirectUri, returnTo }) => ({
    url: `https://gateway-c.example/authorize?${new URLSearchParams({ redirect_uri: redirectUri, return_to: returnTo })}`,
  }),
  endModelSignIn: async ({ state, query }) => {
    if (state !== begunWith) throw new ServiceError('conflict', 'this sign-in was not begun by you')
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
}

const signIn = '/api/v1/agents/sign-in'
const server = { id: 'docs', name: 'Docs', endpoint: 'https://docs.example.com/mcp' }

/** A good request of every route about models and tool servers. */
export const modelRequests: Readonly<Record<string, GoodRequest>> = {
  'GET /api/v1/agents/models': { url: '/api/v1/agents/models' },
  'GET /api/v1/agents/config-check': { url: '/api/v1/agents/config-check' },
  'GET /api/v1/agents/sign-in': { url: signIn },
  'POST /api/v1/agents/sign-in': { url: signIn, body: { return: '/agents?chat=1' } },
  'DELETE /api/v1/agents/sign-in': { url: signIn },
  'GET /api/v1/agents/sign-in/callback': { url: `${signIn}/callback?code=c&state=${begunWith}` },
  'POST /api/v1/mcp/probe': { url: '/api/v1/mcp/probe', body: server },
}
