import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { authSettings } from '../config.ts'
import type { AskJson } from '../outgoing.ts'

const { IDP_API_URL, IDP_SECRET_KEY } = authSettings

const Created = z.object({ jwt: z.string() })

/** What the provider does for whoever holds its secret key. */
export interface ProviderApi {
  enabled(): boolean
  /** A fresh token of a session; undefined when the session has ended. Throws when the provider does not answer. */
  createToken(sid: string): Promise<string | undefined>
  /** Ends a session. */
  revoke(sid: string): Promise<void>
}

export const openProviderApi = (env: Environment, ask: AskJson): ProviderApi => {
  const settings = () => read({ IDP_API_URL, IDP_SECRET_KEY }, env)
  const post = (sid: string, action: 'tokens' | 'revoke') => {
    const {
      IDP_API_URL: { href },
      IDP_SECRET_KEY: bearer = '',
    } = settings()
    const url = `${href.replace(/\/+$/, '')}/v1/sessions/${encodeURIComponent(sid)}/${action}`
    return ask(url, { method: 'POST', bearer })
  }
  return {
    enabled: () => settings().IDP_SECRET_KEY !== undefined,
    createToken: async (sid) => {
      const { status, body } = await post(sid, 'tokens')
      if (status === 200) return Created.parse(body).jwt
      if (status === 404 || status === 410 || status === 422) return undefined
      throw new Error(`the API of the identity provider answered ${status}`)
    },
    revoke: async (sid) => {
      const { status } = await post(sid, 'revoke')
      if (status >= 500 || status === 401) throw new Error(`the API of the identity provider answered ${status}`)
    },
  }
}
