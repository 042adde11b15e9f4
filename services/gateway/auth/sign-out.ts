import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import { cookieOf, idpCookie, keyCookie, removedCookie } from './cookies.ts'
import type { ProviderApi } from './idp/provider-api.ts'
import { renewableMs } from './idp/renewal.ts'
import type { SessionTokens } from './idp/session-token.ts'

/** Ends what a browser is signed in by, at the identity provider too where its secret key is known; gives the `Set-Cookie` lines. */
export type SignOut = (headers: IncomingHttpHeaders) => Promise<string[]>

interface SignOutOptions {
  tokens: SessionTokens
  api: ProviderApi
  log: Logger
}

export const openSignOut =
  ({ tokens, api, log }: SignOutOptions): SignOut =>
  async (headers) => {
    const token = cookieOf(headers, idpCookie)
    const session = token !== undefined && api.enabled() ? await tokens.verifyPast(token, renewableMs) : undefined
    if (session !== undefined) {
      // The browser is signed out whether or not the provider answers.
      await api
        .revoke(session.sid)
        .catch((error: unknown) => log.warn({ err: error }, 'a session cannot be ended at the identity provider'))
    }
    return [removedCookie(idpCookie), removedCookie(keyCookie)]
  }
