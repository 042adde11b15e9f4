import type { Request } from 'express'
import type { Identity } from '#proto/call.ts'
import { ServiceError, errorStatuses } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { anonymous } from '../auth/identity.ts'
import { looksLikeKey } from '../auth/keys/key-token.ts'
import { providerOf } from '../auth/provider.ts'
import { featureRefusal, refusalOf } from '../features/refusal.ts'
import type { Gateway } from '../gateway.ts'
import { bearerOf, isSharedSecret } from '../request/bearer.ts'
import { publicUrl } from '../request/public-url.ts'
import type { Shown } from '../response/http-exchange.ts'
import { requireAllowedHost } from '../server/allowed-hosts.ts'
import { agentDoorSettings, toolServerSettings } from './config.ts'

/** Whoever shares the bearer of the agent: all of them are one caller, who may ask and change nothing. */
const tokenHolder: Identity = { kind: 'key', subject: 'agent-api-token', features: 'all', scopes: ['agent'] }

/** Who asks the agent: as everywhere else, or by the shared bearer where the agent needs somebody to be known. */
export const identifyAsker = async (request: Request<Record<string, string>>, gateway: Gateway): Promise<Identity> => {
  const { AGENT_API_TOKEN: token } = read(agentDoorSettings, gateway.env)
  const counts = token !== undefined && gateway.policy().permissions.AGENT.access === 'authenticated'
  if (counts && isSharedSecret(bearerOf(request.headers), token)) return tokenHolder
  return gateway.identify(request)
}

type AnyRequest = Request<Record<string, string>>

const guarded = { access: 'write', feature: 'MCP' } as const

/**
 * The caller of the tool server: by an API key or a token of the identity provider in a header, never by a cookie or by headers of
 * a proxy, so pages of every origin may call. Without either configured it throws `unauthenticated`, unless `SVC_MCP_PUBLIC` is on.
 */
export const identifyToolCaller = async (request: AnyRequest, gateway: Gateway): Promise<Identity> => {
  const { env, build, keys, telemetry } = gateway
  const policy = gateway.policy()
  const hasProvider = providerOf(env, build) === 'idp'
  if (!keys.enabled() && !hasProvider) {
    if (!isOpenToAll(gateway)) {
      throw unauthenticated(
        'the tool server is shut: set SVC_API_KEY_SECRET and send a key, or SVC_MCP_PUBLIC to open it',
      )
    }
    requireAllowedHost(request, env)
    telemetry.log.warn('SVC_MCP_PUBLIC is on: a request to the tool server was let in without credentials')
    const refusal = featureRefusal('MCP', anonymous, policy.permissions)
    if (refusal) throw refusal
    return anonymous
  }
  const bearer = bearerOf(request.headers)
  const key = request.headers['x-api-key'] ?? (looksLikeKey(bearer ?? '') ? bearer : undefined)
  if (key === undefined && (bearer === undefined || !hasProvider)) {
    throw unauthenticated(
      `send ${hasProvider ? 'an API key or a token of the identity provider' : 'an API key'} as a bearer`,
    )
  }
  const identity = key === undefined ? await ofAccessToken(request, gateway) : await gateway.identify(request)
  const refusal = refusalOf(guarded, identity, policy)
  if (refusal) throw refusal
  return identity
}

/** Whom an OAuth token of the identity provider stands for; a token of a browser's session is none, nor is one issued for another service. */
const ofAccessToken = async (request: AnyRequest, { auth, env }: Gateway): Promise<Identity> => {
  const here = publicUrl(request, env)
  const identity = await auth.accessTokens.verify(bearerOf(request.headers) ?? '', [`${here}/api/mcp`, here])
  if (identity === undefined) throw unauthenticated('the token is not valid here')
  return identity
}

/** Whether nobody needs to say who they are; never where there is a way to say it. */
export const isOpenToAll = ({ env, build, keys }: Pick<Gateway, 'env' | 'build' | 'keys'>): boolean =>
  !keys.enabled() && providerOf(env, build) !== 'idp' && read(toolServerSettings, env).SVC_MCP_PUBLIC

const unauthenticated = (sentence: string): ServiceError => new ServiceError('unauthenticated', sentence)

/**
 * What a refused client learns about signing in (RFC 6750 §3, RFC 9728 §5.1): without credentials there is no error to name, and
 * with too little scope the one that would do is named.
 */
export const toolServerChallenge = (
  request: Pick<Request, 'headers' | 'protocol'>,
  env: Environment,
  { status, details }: Pick<Shown, 'status' | 'details'>,
): string | undefined => {
  const scope = details?.scope
  const isShort = status === errorStatuses.forbidden && typeof scope === 'string'
  if (!isShort && status !== errorStatuses.unauthenticated) return undefined
  const metadata = `${publicUrl(request, env)}/.well-known/oauth-protected-resource/api/mcp`
  const hasToken = bearerOf(request.headers) !== undefined
  const error = isShort ? `, error="insufficient_scope", scope="${scope}"` : hasToken ? ', error="invalid_token"' : ''
  return `Bearer realm="watchhouse", resource_metadata="${metadata}"${error}`
}
