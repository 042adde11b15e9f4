import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { authSettings } from '../config.ts'
import type { FetchJson } from '../fetch-json.ts'

const { IDP_API_URL, IDP_SECRET_KEY } = authSettings

const TokenCreation = z.object({ jwt: z.string() })
/** Introspection response of the provider for an OAuth token. */
const TokenIntrospection = z.object({
  subject: z.string().min(1),
  revoked: z.boolean(),
  expired: z.boolean(),
  expiration: z.number().nullish(),
  aud: z.union([z.string(), z.array(z.string())]).nullish(),
})

/** A valid OAuth token. */
export interface AccessToken {
  subject: string
  /** Expiry in epoch milliseconds; undefined if it does not expire. */
  endsAtMs: number | undefined
  /** The resources it was issued for; empty if it is not restricted to any. */
  audience: readonly string[]
}

/** API methods of the provider that require its secret key. */
export interface IdpApi {
  enabled(): boolean
  /** Creates a session token; undefined if the session has ended. Throws if the provider does not respond. */
  createToken(sid: string): Promise<string | undefined>
  /** Introspects an OAuth token; undefined if it is invalid. Throws if the provider does not respond. */
  introspect(token: string): Promise<AccessToken | undefined>
  /** Ends a session. */
  revoke(sid: string): Promise<void>
}

export const createIdpApi = (env: Environment, fetchJson: FetchJson): IdpApi => {
  const settings = () => parseSettings({ IDP_API_URL, IDP_SECRET_KEY }, env)
  const post = (path: string, json?: unknown) => {
    const {
      IDP_API_URL: { href },
      IDP_SECRET_KEY: bearer = '',
    } = settings()
    return fetchJson(`${href.replace(/\/+$/, '')}/v1/${path}`, { method: 'POST', bearer, json })
  }
  const ofSession = (sid: string, action: 'tokens' | 'revoke') => post(`sessions/${encodeURIComponent(sid)}/${action}`)
  return {
    enabled: () => settings().IDP_SECRET_KEY !== undefined,
    createToken: async (sid) => {
      const { status, body } = await ofSession(sid, 'tokens')
      if (status === 200) return TokenCreation.parse(body).jwt
      if (status === 404 || status === 410 || status === 422) return undefined
      throw new Error(`request to the identity provider failed: status ${status}`)
    },
    introspect: async (token) => {
      const { status, body } = await post('oauth_applications/access_tokens/verify', { access_token: token })
      if (status === 400 || status === 404 || status === 422) return undefined
      if (status !== 200) throw new Error(`request to the identity provider failed: status ${status}`)
      const { subject, revoked, expired, expiration, aud } = TokenIntrospection.parse(body)
      if (revoked || expired) return undefined
      return {
        subject,
        endsAtMs: toEpochMs(expiration),
        audience: aud === null || aud === undefined ? [] : [aud].flat(),
      }
    },
    revoke: async (sid) => {
      const { status } = await ofSession(sid, 'revoke')
      if (status >= 500 || status === 401) throw new Error(`request to the identity provider failed: status ${status}`)
    },
  }
}

/** Times below this value are seconds. */
const minEpochMs = 100_000_000_000

/** Converts a time of the provider to epoch milliseconds; some of its responses use seconds, others milliseconds. */
const toEpochMs = (time: number | null | undefined): number | undefined => {
  if (time === null || time === undefined) return undefined
  return time < minEpochMs ? time * 1_000 : time
}
