import type { Request } from 'express'
import { LRUCache } from 'lru-cache'
import { limitEntries } from '#shared/store/limit-entries.ts'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { resolvePublicUrl } from '../../request/public-url.ts'
import { formatSetCookie, readCookie, idpCookie, isHttpsRequest, maxRenewalAgeMs } from '../cookies.ts'
import type { IdpApi } from './provider-api.ts'
import type { SessionTokens } from './session-token.ts'

/** Identifies callers by session tokens of the identity provider. */
export interface IdpSessions {
  /** Returns the user of a session token; undefined if it is invalid. */
  ofToken(token: string): Promise<Identity | undefined>
  /** Returns the user of the session cookie. An expired token is renewed, and the response sets the new cookie. */
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
      const token = readCookie(request.headers, idpCookie)
      if (token === undefined) return undefined
      const known = await ofToken(token)
      if (known !== undefined) return known
      const next = await renew(token)
      const identity = next === undefined ? undefined : await ofToken(next)
      if (next === undefined || identity === undefined) return undefined
      request.res?.appendHeader(
        'Set-Cookie',
        formatSessionCookie(next, isHttpsRequest(request.headers, resolvePublicUrl(request, env))),
      )
      return identity
    },
  }
}

/** Returns a `Set-Cookie` line for a session token. The cookie lasts as long as the token can be renewed. */
export const formatSessionCookie = (token: string, secure: boolean): string =>
  formatSetCookie(idpCookie, token, { maxAgeMs: maxRenewalAgeMs, secure })

/** How long a renewed token is reused: a page sends several requests with the same expired token. */
const renewedTokenCacheMs = 20_000
/** Maximum number of sessions whose renewed token is cached. */
const maxCachedSessions = 10_000

/** Returns a new token for an expired one; undefined if the session has ended or the renewal failed. */
type Renew = (token: string) => Promise<string | undefined>

interface RenewalOptions {
  tokens: SessionTokens
  api: IdpApi
  clock: Clock
  log: Logger
}

export const createRenewal = ({ tokens, api, clock, log }: RenewalOptions): Renew => {
  const remembered = new LRUCache<string, Promise<string | undefined>>({
    ...limitEntries(maxCachedSessions),
    ttl: renewedTokenCacheMs,
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

  return async (expired) => {
    if (!api.enabled()) return undefined
    const session = await tokens.verifyPast(expired, maxRenewalAgeMs)
    if (session === undefined) return undefined
    const known = remembered.get(session.sid)
    if (known !== undefined) return known
    const token = create(session.sid)
    remembered.set(session.sid, token)
    return token
  }
}
