import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { authSettings } from '../config.ts'
import type { FetchJson } from '../outgoing.ts'

const { IDP_API_URL, IDP_SECRET_KEY } = authSettings

const Created = z.object({ jwt: z.string() })
/** The state of an OAuth token at the provider. */
const Introspected = z.object({
  subject: z.string().min(1),
  revoked: z.boolean(),
  expired: z.boolean(),
  expiration: z.number().nullish(),
  aud: z.union([z.string(), z.array(z.string())]).nullish(),
})

/** An OAuth token that holds. */
export interface AccessToken {
  subject: string
  /** When it ends; undefined when it does not by itself. */
  endsAtMs: number | undefined
  /** The resources it was issued for; none when it was for no one in particular. */
  audience: readonly string[]
}

/** Methods of the provider that require its secret key. */
export interface ProviderApi {
  enabled(): boolean
  /** A fresh token of a session; undefined when the session has ended. Throws when the provider does not answer. */
  createToken(sid: string): Promise<string | undefined>
  /** Returns the user of an OAuth token; undefined when it is invalid. Throws when the provider does not respond. */
  introspect(token: string): Promise<AccessToken | undefined>
  /** Ends a session. */
  revoke(sid: string): Promise<void>
}

export const openProviderApi = (env: Environment, fetchJson: FetchJson): ProviderApi => {
  const settings = () => read({ IDP_API_URL, IDP_SECRET_KEY }, env)
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
      if (status === 200) return Created.parse(body).jwt
      if (status === 404 || status === 410 || status === 422) return undefined
      throw new Error(`the API of the identity provider answered ${status}`)
    },
    introspect: async (token) => {
      const { status, body } = await post('oauth_applications/access_tokens/verify', { access_token: token })
      if (status === 400 || status === 404 || status === 422) return undefined
      if (status !== 200) throw new Error(`the API of the identity provider answered ${status}`)
      const { subject, revoked, expired, expiration, aud } = Introspected.parse(body)
      if (revoked || expired) return undefined
      return { subject, endsAtMs: epochMs(expiration), audience: aud === null || aud === undefined ? [] : [aud].flat() }
    },
    revoke: async (sid) => {
      const { status } = await ofSession(sid, 'revoke')
      if (status >= 500 || status === 401) throw new Error(`the API of the identity provider answered ${status}`)
    },
  }
}

const msFrom = 100_000_000_000

/** Its times are seconds in some answers and milliseconds in others; as seconds the latter would be thousands of years away. */
const epochMs = (time: number | null | undefined): number | undefined => {
  if (time === null || time === undefined) return undefined
  return time < msFrom ? time * 1_000 : time
}
