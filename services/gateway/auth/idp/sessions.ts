import type { Request } from 'express'
import type { Identity } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import { publicUrl } from '../../request/public-url.ts'
import { cookieLine, cookieOf, idpCookie, isSecure } from '../cookies.ts'
import { renewableMs, type Renew } from './renewal.ts'
import type { SessionTokens } from './session-token.ts'

/** Sessions of the identity provider, as requests carry them. */
export interface IdpSessions {
  /** Whom a session token stands for. */
  ofToken(token: string): Promise<Identity | undefined>
  /** Whom a browser's cookie stands for. One that has ended is renewed, and the browser given the new one. */
  ofBrowser(request: Request): Promise<Identity | undefined>
}

interface IdpSessionsOptions {
  env: Environment
  tokens: SessionTokens
  renew: Renew
}

export const openIdpSessions = ({ env, tokens, renew }: IdpSessionsOptions): IdpSessions => {
  const ofToken = async (token: string) => (await tokens.verify(token))?.identity
  return {
    ofToken,
    ofBrowser: async (request) => {
      const token = cookieOf(request.headers, idpCookie)
      if (token === undefined) return undefined
      const known = await ofToken(token)
      if (known !== undefined) return known
      const next = await renew(token)
      const identity = next === undefined ? undefined : await ofToken(next)
      if (next === undefined || identity === undefined) return undefined
      request.res?.appendHeader('Set-Cookie', sessionLine(next, isSecure(request.headers, publicUrl(request, env))))
      return identity
    },
  }
}

/** A `Set-Cookie` line of a session token, kept for as long as it may be renewed. */
export const sessionLine = (token: string, secure: boolean): string =>
  cookieLine(idpCookie, token, { maxAgeMs: renewableMs, secure })
