import type { Request } from 'express'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { publicUrl } from '../../request/public-url.ts'
import { cookieLine, cookieOf, idpCookie, isSecure, renewableMs } from '../cookies.ts'
import type { ProviderApi } from './provider-api.ts'
import type { SessionTokens } from './session-token.ts'

/** Sessions of the identity provider, as requests carry them. */
export interface IdpSessions {
  /** Returns the user of a session token. */
  ofToken(token: string): Promise<Identity | undefined>
  /** Returns the user of a cookie. An expired token is renewed, and the browser receives the new one. */
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

/** Requests of one page arrive together with the same token: they share one successor. */
const sharedMs = 20_000
/** Sessions whose successor is remembered. */
const maxRemembered = 10_000

/** Returns the successor of an expired token; undefined when the session is over or cannot be verified. */
type Renew = (token: string) => Promise<string | undefined>

interface RenewalOptions {
  tokens: SessionTokens
  api: ProviderApi
  clock: Clock
  log: Logger
}

export const openRenewal = ({ tokens, api, clock, log }: RenewalOptions): Renew => {
  const remembered = new LRUCache<string, Promise<string | undefined>>({
    max: maxRemembered,
    ttl: sharedMs,
    perf: { now: clock.elapsedMs },
    ttlResolution: 0,
  })

  const create = async (sid: string): Promise<string | undefined> => {
    try {
      return await api.createToken(sid)
    } catch (error) {
      log.warn({ err: error }, 'session renewal failed')
      return undefined
    }
  }

  return async (ended) => {
    if (!api.enabled()) return undefined
    const session = await tokens.verifyPast(ended, renewableMs)
    if (session === undefined) return undefined
    const known = remembered.get(session.sid)
    if (known !== undefined) return known
    const token = create(session.sid)
    remembered.set(session.sid, token)
    return token
  }
}
