import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { parseSetCookie } from 'cookie'
import type { JWTVerifyGetKey } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { CallbackQuery } from '#proto/http/session.ts'
import type { Clock } from '#shared/time/clock.ts'
import { isTimingSafeEqual } from '../../request/bearer.ts'
import {
  formatSetCookie,
  readCookie,
  idpCookie,
  isHttpsRequest,
  keyCookie,
  formatCookieRemoval,
  maxRenewalAgeMs,
} from '../cookies.ts'
import type { KeySets } from '../key-sets.ts'
import { signatureAlgorithms } from '../signed-token.ts'
import type { IdpAddresses } from './addresses.ts'
import type { IdpApi } from './provider-api.ts'
import { formatSessionCookie } from './sessions.ts'
import type { SessionTokens } from './session-token.ts'

/** A redirect, and the `Set-Cookie` lines of its response. */
interface Step {
  location: string
  cookies: string[]
}

/** Headers and public URL of a browser request. */
interface Visit {
  headers: IncomingHttpHeaders
  publicUrl: string
}

/** Sign-in through the pages of the identity provider. */
export interface SignIn {
  begin(visit: Visit, returnTo: string): Step
  /** Handles the callback; redirects once more to fetch a session token. Throws `unauthenticated` without a session. */
  finish(visit: Visit, query: z.output<typeof CallbackQuery>): Promise<Step>
}

interface SignInOptions {
  addresses(): IdpAddresses | undefined
  tokens: SessionTokens
  keySets: KeySets
  clock: Clock
}

/** Cookie that binds the callback to the browser, so that a forged link cannot sign the browser in as someone else. */
const stateCookie = 'watchhouse_sign_in'
const stateBytes = 24
/** Maximum duration of a sign-in. */
const stateMs = 15 * 60_000

const stateRemoval = formatCookieRemoval(stateCookie)

export const createSignIn = ({ addresses, tokens, keySets, clock }: SignInOptions): SignIn => {
  const required = (): IdpAddresses => {
    const known = addresses()
    if (known !== undefined) return known
    throw new ServiceError(
      'unavailable',
      'sign-in is unavailable: no identity provider is configured; set SVC_IDP_PUBLISHABLE_KEY',
    )
  }

  const isSignedIn = async ({ headers }: Visit): Promise<boolean> => {
    const token = readCookie(headers, idpCookie)
    return token !== undefined && (await tokens.verify(token)) !== undefined
  }

  const newToken = async ({ headers }: Visit, query: z.output<typeof CallbackQuery>): Promise<string | undefined> => {
    const handshake = query[handshakeName] ?? readCookie(headers, handshakeName)
    if (handshake === undefined) return undefined
    const token = await tokenOfHandshake(handshake, keySets.at(required().keys), clock.now())
    return token !== undefined && (await tokens.verify(token)) !== undefined ? token : undefined
  }

  return {
    begin: ({ headers, publicUrl }, returnTo) => {
      const state = randomBytes(stateBytes).toString('base64url')
      const secure = isHttpsRequest(headers, publicUrl)
      return {
        location: hostedPage(required(), callbackOf(publicUrl, { return: returnTo, state })),
        cookies: [formatSetCookie(stateCookie, state, { maxAgeMs: stateMs, secure })],
      }
    },
    finish: async (visit, query) => {
      const { headers, publicUrl } = visit
      const { return: returnTo, state } = query
      if (await isSignedIn(visit)) return { location: returnTo, cookies: [stateRemoval] }
      if (!isTimingSafeEqual(state, readCookie(headers, stateCookie) ?? '')) {
        throw new ServiceError('unauthenticated', 'sign-in expired or started in another browser; start again')
      }
      const token = await newToken(visit, query)
      if (token !== undefined) {
        const session = formatSessionCookie(token, isHttpsRequest(headers, publicUrl))
        return { location: returnTo, cookies: [session, stateRemoval, formatCookieRemoval(keyCookie)] }
      }
      if (query.handshaken !== undefined) {
        throw new ServiceError('unauthenticated', 'the identity provider has no session; sign in again')
      }
      const callback = callbackOf(publicUrl, { return: returnTo, state, handshaken: '1' })
      return { location: handshakePage(required(), callback, query.__clerk_db_jwt), cookies: [] }
    },
  }
}

/** Name of the handshake at the provider, both as a query parameter and as a cookie. */
const handshakeName = '__clerk_handshake'

const callbackOf = (publicUrl: string, query: Readonly<Record<string, string>>): string =>
  `${publicUrl}/api/v1/auth/callback?${new URLSearchParams(query)}`

/** Returns the URL of the sign-in page, which redirects to `callback` afterwards. */
const hostedPage = ({ signIn }: IdpAddresses, callback: string): string =>
  withParameters(signIn, { redirect_url: callback })

/**
 * Returns the handshake URL of the provider, which redirects to `callback` with a session token for this site. The
 * provider identifies the browser by its own cookie, or in development mode by the token `browser`.
 */
const handshakePage = ({ handshake }: IdpAddresses, callback: string, browser: string | undefined): string =>
  withParameters(handshake, {
    redirect_url: callback,
    suffixed_cookies: 'false',
    ...(browser !== undefined && { __clerk_db_jwt: browser }),
  })

const withParameters = (address: string, query: Readonly<Record<string, string>>): string => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

/** Payload of a handshake: the `Set-Cookie` lines of the provider. */
const Handshake = z.object({ handshake: z.array(z.string().max(8_192)).max(32) })

/** Returns the session token of a handshake; undefined when it is forged or there is no session. */
const tokenOfHandshake = async (
  handshake: string,
  keys: JWTVerifyGetKey,
  nowMs: number,
): Promise<string | undefined> => {
  const { errors, jwtVerify } = await import('jose')
  try {
    const { payload } = await jwtVerify(handshake, keys, {
      algorithms: signatureAlgorithms,
      currentDate: new Date(nowMs),
    })
    const cookies = Handshake.safeParse(payload).data?.handshake.map((line) => parseSetCookie(line)) ?? []
    return cookies.find(({ name }) => name === idpCookie)?.value || undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/**
 * Signs a browser out and returns the `Set-Cookie` lines. Also ends the session at the identity provider if its secret
 * key is set.
 */
export type SignOut = (headers: IncomingHttpHeaders) => Promise<string[]>

interface SignOutOptions {
  tokens: SessionTokens
  api: IdpApi
  log: Logger
}

export const createSignOut =
  ({ tokens, api, log }: SignOutOptions): SignOut =>
  async (headers) => {
    const token = readCookie(headers, idpCookie)
    const session = token !== undefined && api.enabled() ? await tokens.verifyPast(token, maxRenewalAgeMs) : undefined
    if (session !== undefined) {
      // The browser is signed out even if the provider does not respond.
      await api
        .revoke(session.sid)
        .catch((error: unknown) => log.warn({ err: error }, 'ending the session at the identity provider failed'))
    }
    return [formatCookieRemoval(idpCookie), formatCookieRemoval(keyCookie)]
  }
