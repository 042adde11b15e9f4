import type { Request } from 'express'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import { ServiceError, errorStatuses } from '#proto/errors.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { anonymousCaller } from '../auth/identity.ts'
import { resolveTokenIssuer } from '../auth/idp/issuer.ts'
import { hasKeyPrefix } from '../auth/keys/key-token.ts'
import { resolveAuthProvider } from '../auth/provider.ts'
import { findFeatureAccessError, findRouteAccessError } from '../features/authorization.ts'
import type { Gateway } from '../gateway.ts'
import { readBearerToken, isSharedSecret } from '../request/bearer.ts'
import { resolvePublicUrl } from '../request/public-url.ts'
import type { PublicError } from '../response/http-exchange.ts'
import { requireAllowedHost } from '../server/allowed-hosts.ts'
import { agentRouteSettings, mcpAccessSettings } from './config.ts'

/** The identity of all callers with AGENT_API_TOKEN, limited to the scope `agent`. */
const tokenHolder: Identity = { kind: 'key', subject: 'agent-api-token', features: 'all', scopes: ['agent'] }

/** Returns the caller of the agent. `AGENT_API_TOKEN` is accepted only while the agent requires authentication. */
export const identifyAgentCaller = async (
  request: Request<Record<string, string>>,
  gateway: Gateway,
): Promise<Identity> => {
  const { AGENT_API_TOKEN: token } = parseSettings(agentRouteSettings, gateway.env)
  const isAccepted = token !== undefined && gateway.policy().permissions.AGENT.access === 'authenticated'
  if (isAccepted && isSharedSecret(readBearerToken(request.headers), token)) return tokenHolder
  return gateway.identify(request)
}

type AnyRequest = Request<Record<string, string>>

const guarded = { access: 'write', feature: 'MCP' } as const

/**
 * Returns the caller of the MCP server, from an API key or a token of the identity provider. Cookies and proxy headers
 * are ignored, so that pages of any origin can call the server. Throws `unauthenticated` when neither is configured,
 * unless `SVC_MCP_PUBLIC` is on.
 */
export const identifyMcpCaller = async (request: AnyRequest, gateway: Gateway): Promise<Identity> => {
  const { env, build, keys, telemetry } = gateway
  const policy = gateway.policy()
  const hasProvider = resolveAuthProvider(env, build) === 'idp'
  if (!keys.enabled() && !hasProvider) {
    if (!isMcpPublic(gateway)) {
      throw unauthenticated(
        'the MCP server has no authentication configured; set SVC_API_KEY_SECRET and send an API key, or set SVC_MCP_PUBLIC=true',
      )
    }
    requireAllowedHost(request, env)
    telemetry.log.debug('SVC_MCP_PUBLIC is on: anonymous MCP request allowed')
    const refusal = findFeatureAccessError('MCP', anonymousCaller, policy.permissions)
    if (refusal) throw refusal
    return anonymousCaller
  }
  const bearer = readBearerToken(request.headers)
  const key = request.headers['x-api-key'] ?? (hasKeyPrefix(bearer ?? '') ? bearer : undefined)
  if (key === undefined && (bearer === undefined || !hasProvider)) {
    throw unauthenticated(
      `missing credentials; send ${hasProvider ? 'an API key or a token of the identity provider' : 'an API key'} as bearer token`,
    )
  }
  const identity = key === undefined ? await identifyByAccessToken(request, gateway) : await gateway.identify(request)
  const refusal = findRouteAccessError(guarded, identity, policy)
  if (refusal) throw refusal
  return identity
}

/** Returns the subject of an OAuth token. Rejects browser session tokens and tokens issued for another service. */
const identifyByAccessToken = async (request: AnyRequest, { auth, env }: Gateway): Promise<Identity> => {
  const here = resolvePublicUrl(request, env)
  const identity = await auth.accessTokens.verify(readBearerToken(request.headers) ?? '', [`${here}/api/mcp`, here])
  if (identity === undefined) throw unauthenticated('invalid access token')
  return identity
}

/** Returns whether anonymous MCP requests are accepted; never when API keys or an identity provider are configured. */
export const isMcpPublic = ({ env, build, keys }: Pick<Gateway, 'env' | 'build' | 'keys'>): boolean =>
  !keys.enabled() && resolveAuthProvider(env, build) !== 'idp' && parseSettings(mcpAccessSettings, env).SVC_MCP_PUBLIC

/**
 * Warns at start if anonymous MCP requests are accepted. Each such request is logged at level debug, because clients send
 * many.
 */
export const warnOfPublicMcp = (gateway: Pick<Gateway, 'env' | 'build' | 'keys'>, log: Logger): void => {
  if (!isMcpPublic(gateway)) return
  log.warn('SVC_MCP_PUBLIC is on: the MCP server accepts requests without authentication')
}

const unauthenticated = (sentence: string): ServiceError => new ServiceError('unauthenticated', sentence)

/**
 * Returns the `WWW-Authenticate` header of a 401, or of a 403 for a missing scope; undefined for all other errors. See
 * RFC 6750 §3 and RFC 9728 §5.1. A 401 without credentials has no `error`, and a 403 names the required scope. The OAuth
 * metadata is named only if there is an identity provider: clients would otherwise start a sign-in that cannot work.
 */
export const createMcpChallenge = (
  request: Pick<Request, 'headers' | 'protocol'>,
  gateway: Pick<Gateway, 'env' | 'build'>,
  { status, details }: Pick<PublicError, 'status' | 'details'>,
): string | undefined => {
  const scope = details?.scope
  const isShort = status === errorStatuses.forbidden && typeof scope === 'string'
  if (!isShort && status !== errorStatuses.unauthenticated) return undefined
  const path = '/.well-known/oauth-protected-resource/api/mcp'
  const hasMetadata = resolveTokenIssuer(gateway) !== undefined
  const metadata = hasMetadata ? `, resource_metadata="${resolvePublicUrl(request, gateway.env)}${path}"` : ''
  const hasToken = readBearerToken(request.headers) !== undefined
  const error = isShort ? `, error="insufficient_scope", scope="${scope}"` : hasToken ? ', error="invalid_token"' : ''
  return `Bearer realm="watchhouse"${metadata}${error}`
}
