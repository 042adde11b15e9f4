import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { CallbackQuery } from '#proto/http/session.ts'
import type { Clock } from '#shared/clock.ts'
import { cookieLine, cookieOf, idpCookie, isSecure, keyCookie, removedCookie } from '../cookies.ts'
import type { KeySets } from '../key-sets.ts'
import { isSameText } from '../same-text.ts'
import type { IdpAddresses } from './addresses.ts'
import { handshakePage, hostedPage, tokenOfHandshake } from './handshake.ts'
import type { SessionTokens } from './session-token.ts'
import { sessionLine } from './sessions.ts'

/** Where a browser goes next, and the `Set-Cookie` lines it takes along. */
export interface Step {
  location: string
  cookies: string[]
}

/** What the browser brought. */
export interface Visit {
  headers: IncomingHttpHeaders
  publicUrl: string
}

/** Signing in by the pages of the identity provider. */
export interface SignIn {
  begin(visit: Visit, returnTo: string): Step
  /** The way back, which goes once more to the provider for a session token. Throws `unauthenticated` when it has none. */
  finish(visit: Visit, asked: z.output<typeof CallbackQuery>): Promise<Step>
}

interface SignInOptions {
  addresses(): IdpAddresses | undefined
  tokens: SessionTokens
  keySets: KeySets
  clock: Clock
}

/** Ties the way back to the browser that left: nobody can be signed in as another by following a link. */
const stateCookie = 'watchhouse_sign_in'
const stateBytes = 24
/** How long signing in may take. */
const stateMs = 15 * 60_000

export const openSignIn = ({ addresses, tokens, keySets, clock }: SignInOptions): SignIn => {
  const required = (): IdpAddresses => {
    const known = addresses()
    if (known !== undefined) return known
    throw new ServiceError('unavailable', 'the operator has not named the identity provider')
  }

  const isSignedIn = async ({ headers }: Visit): Promise<boolean> => {
    const token = cookieOf(headers, idpCookie)
    return token !== undefined && (await tokens.verify(token)) !== undefined
  }

  const newToken = async ({ headers }: Visit, asked: z.output<typeof CallbackQuery>): Promise<string | undefined> => {
    const handshake = asked[handshakeName] ?? cookieOf(headers, handshakeName)
    if (handshake === undefined) return undefined
    const token = await tokenOfHandshake(handshake, keySets.at(required().keys), clock.now())
    return token !== undefined && (await tokens.verify(token)) !== undefined ? token : undefined
  }

  return {
    begin: ({ headers, publicUrl }, returnTo) => {
      const state = randomBytes(stateBytes).toString('base64url')
      const secure = isSecure(headers, publicUrl)
      return {
        location: hostedPage(required(), callbackOf(publicUrl, { return: returnTo, state })),
        cookies: [cookieLine(stateCookie, state, { maxAgeMs: stateMs, secure })],
      }
    },
    finish: async (visit, asked) => {
      const { headers, publicUrl } = visit
      const { return: returnTo, state } = asked
      if (await isSignedIn(visit)) return { location: returnTo, cookies: [removedCookie(stateCookie)] }
      if (!isSameText(state, cookieOf(headers, stateCookie) ?? '')) {
        throw new ServiceError('unauthenticated', 'this sign-in was begun elsewhere or took too long; begin it again')
      }
      const token = await newToken(visit, asked)
      if (token !== undefined) {
        const session = sessionLine(token, isSecure(headers, publicUrl))
        return { location: returnTo, cookies: [session, removedCookie(stateCookie), removedCookie(keyCookie)] }
      }
      if (asked.handshaken !== undefined) {
        throw new ServiceError('unauthenticated', 'the identity provider knows of no session; sign in again')
      }
      const callback = callbackOf(publicUrl, { return: returnTo, state, handshaken: '1' })
      return { location: handshakePage(required(), callback, asked.__clerk_db_jwt), cookies: [] }
    },
  }
}

/** The provider's name for it, as a parameter and as a cookie. */
const handshakeName = '__clerk_handshake'

const callbackOf = (publicUrl: string, parameters: Readonly<Record<string, string>>): string =>
  `${publicUrl}/api/v1/auth/callback?${new URLSearchParams(parameters)}`
