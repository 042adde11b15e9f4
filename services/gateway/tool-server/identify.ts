import type { Request } from 'express'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { read } from '#shared/config/setting.ts'
import { looksLikeKey } from '../auth/keys/token.ts'
import { providerOf } from '../auth/provider.ts'
import { bearerOf } from '../request/bearer.ts'
import { featureRefusal, refusalOf } from '../features/refusal.ts'
import type { Gateway } from '../gateway.ts'
import { anonymous } from '../identity.ts'
import { publicUrl } from '../request/public-url.ts'
import { requireAllowedHost } from '../server/allowed-hosts.ts'
import { toolServerSettings } from './config.ts'

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
