import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { CallbackQuery, MeAnswer, SessionRequest, SignInQuery, SignOutAnswer } from '#proto/http/session.ts'
import { whenAvailable } from '#shared/when-available.ts'
import { idpCookie, removedCookie } from '../auth/cookies.ts'
import { keyCookieLine } from '../auth/key-cookie.ts'
import { isCrossSiteWrite } from '../auth/cross-site.ts'
import { meOf, signInPath } from '../auth/me.ts'
import type { Gateway } from '../gateway.ts'
import { deleteRoute, getRoute, type Given, postRoute, redirectRoute } from '../route.ts'
import { success } from '../response/success.ts'
import { cloudMode } from '../web/cloud-mode.ts'

const open = { feature: null, access: 'anonymous', limit: 'data' } as const
const session = { ...open, path: '/api/v1/auth/session' } as const

export const me = getRoute({
  ...open,
  path: '/api/v1/auth/me',
  doc: 'Who asks, and what they may do',
  query: noQuery,
  answer: MeAnswer,
  handle: async ({ call: { identity }, headers, publicUrl }, gateway, { setCookie }) => {
    // The first request of the web: by the time a visitor asks the agent, its browser has the cookie.
    const cookie = await whenAvailable(() => guestCookie(identity, headers, publicUrl, gateway))
    if (cookie) setCookie(cookie)
    return success(meOf(identity, gateway), {})
  },
})

const guestCookie = async (
  { kind }: Identity,
  headers: Given['headers'],
  publicUrl: () => string,
  { build, env, guests }: Gateway,
): Promise<string | undefined> => {
  const isVisitor = kind === 'anonymous' && cloudMode(build, env).runtime && !(await guests.find(headers))
  return isVisitor ? guests.invite(headers, publicUrl()) : undefined
}

export const signInWithKey = postRoute({
  ...session,
  doc: 'Signs a person with an API key in to the web',
  query: noQuery,
  body: SessionRequest,
  refuses: [401],
  answer: MeAnswer,
  handle: async ({ body: { key }, ...asked }, gateway, cookies) => {
    refuseOtherSites('POST', asked)
    if (!gateway.keys.enabled()) throw new ServiceError('not-found', 'API keys are off here, so none signs in')
    const identity = await gateway.keys.verify(key)
    if (identity === undefined)
      throw new ServiceError('unauthenticated', 'key is no valid API key of this installation')
    cookies.setCookie(keyCookieLine(key, { ...asked, env: gateway.env, nowMs: gateway.clock.now() }))
    // Whoever signs in this way wants to be this caller from now on.
    cookies.setCookie(removedCookie(idpCookie))
    return success(meOf(identity, gateway), {})
  },
})

export const signOut = deleteRoute({
  ...session,
  doc: 'Ends the session of the web',
  query: noQuery,
  answer: SignOutAnswer,
  handle: async (asked, gateway, cookies) => {
    refuseOtherSites('DELETE', asked)
    for (const line of await gateway.auth.signOut(asked.headers)) cookies.setCookie(line)
    return success({ signedOut: true }, {})
  },
})

/** Nobody is signed in or out by a page of another site. */
const refuseOtherSites = (method: string, { headers, publicUrl }: Pick<Given, 'headers' | 'publicUrl'>): void => {
  if (!isCrossSiteWrite({ method, headers }, publicUrl())) return
  throw new ServiceError('forbidden', 'a page of another site may not sign you in or out')
}

export const signIn = redirectRoute({
  ...open,
  path: signInPath,
  doc: 'Sends a browser to the page of the identity provider where people sign in',
  query: SignInQuery,
  handle: async ({ query: { return: returnTo }, headers, publicUrl }, gateway, { setCookie }) => {
    requireIdp(gateway)
    const { location, cookies } = gateway.auth.signIn.begin({ headers, publicUrl: publicUrl() }, returnTo)
    cookies.forEach(setCookie)
    return location
  },
})

export const signInCallback = redirectRoute({
  ...open,
  path: '/api/v1/auth/callback',
  doc: 'Where the identity provider sends people back to',
  query: CallbackQuery,
  refuses: [401],
  handle: async ({ query, headers, publicUrl }, gateway, { setCookie }) => {
    requireIdp(gateway)
    const { location, cookies } = await gateway.auth.signIn.finish({ headers, publicUrl: publicUrl() }, query)
    cookies.forEach(setCookie)
    return location
  },
})

const requireIdp = ({ auth }: Gateway): void => {
  if (auth.provider() === 'idp') return
  throw new ServiceError(
    'not-found',
    'no identity provider signs people in here; POST an API key to /api/v1/auth/session',
  )
}
