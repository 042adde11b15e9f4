import type { IncomingHttpHeaders } from 'node:http'
import { type Identity, features } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { noQuery } from '#proto/http/parameters.ts'
import {
  CallbackQuery,
  MeResponse,
  SessionRequest,
  SignInQuery,
  SignOutResponse,
  type Me,
} from '#proto/http/session.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import { apiKeySettings } from '../auth/config.ts'
import {
  idpCookie,
  formatCookieRemoval,
  isCrossSiteWrite,
  formatSetCookie,
  isHttpsRequest,
  keyCookie,
} from '../auth/cookies.ts'
import { verifyKeySignature } from '../auth/keys/key-token.ts'
import { findRouteAccessError, listUsableFeatures } from '../features/authorization.ts'
import type { Gateway } from '../gateway.ts'
import { resolveCloudMode } from '../installation/edition.ts'
import { createSuccessBody } from '../response/envelope.ts'
import {
  defineDeleteRoute,
  defineGetRoute,
  type RawRequest,
  definePostRoute,
  defineRedirectRoute,
  type Route,
} from '../http-route.ts'

const open = { feature: null, access: 'anonymous', limit: 'data' } as const
const session = { ...open, path: '/api/v1/auth/session' } as const

const me = defineGetRoute({
  ...open,
  path: '/api/v1/auth/me',
  doc: 'Returns the caller and its permissions',
  query: noQuery,
  answer: MeResponse,
  handle: async ({ call: { identity }, headers, publicUrl }, gateway, { setCookie }) => {
    // The web UI calls this route first, so the cookie exists before a visitor uses the agent.
    const cookie = await ignoreUnavailable(() => guestCookie(identity, headers, publicUrl, gateway))
    if (cookie) setCookie(cookie)
    return createSuccessBody(describeCaller(identity, gateway), {})
  },
})

const guestCookie = async (
  { kind }: Identity,
  headers: RawRequest['headers'],
  publicUrl: () => string,
  { build, env, guests }: Gateway,
): Promise<string | undefined> => {
  const isVisitor = kind === 'anonymous' && resolveCloudMode(build, env).runtime && !(await guests.find(headers))
  return isVisitor ? guests.invite(headers, publicUrl()) : undefined
}

const signInWithKey = definePostRoute({
  ...session,
  doc: 'Signs a user in to the web UI with an API key',
  query: noQuery,
  body: SessionRequest,
  refuses: [401],
  answer: MeResponse,
  handle: async ({ body: { key }, ...request }, gateway, cookies) => {
    rejectCrossSite('POST', request)
    if (!gateway.keys.enabled())
      throw new ServiceError('not-found', 'cannot sign in with an API key: API keys are disabled')
    const identity = await gateway.keys.verify(key)
    if (identity === undefined) throw new ServiceError('unauthenticated', 'invalid API key')
    cookies.setCookie(keyCookieLine(key, { ...request, env: gateway.env, nowMs: gateway.clock.now() }))
    // The key replaces a session of the identity provider.
    cookies.setCookie(formatCookieRemoval(idpCookie))
    return createSuccessBody(describeCaller(identity, gateway), {})
  },
})

const signOut = defineDeleteRoute({
  ...session,
  doc: 'Ends the session of the web UI',
  query: noQuery,
  answer: SignOutResponse,
  handle: async (request, gateway, cookies) => {
    rejectCrossSite('DELETE', request)
    for (const line of await gateway.auth.signOut(request.headers)) cookies.setCookie(line)
    return createSuccessBody({ signedOut: true }, {})
  },
})

/** Prevents pages of other sites from signing users in or out. */
const rejectCrossSite = (method: string, { headers, publicUrl }: Pick<RawRequest, 'headers' | 'publicUrl'>): void => {
  if (!isCrossSiteWrite({ method, headers }, publicUrl)) return
  throw new ServiceError('forbidden', 'cross-site request rejected: sign in or out on a page of this site')
}

/** Path that starts the sign-in with the identity provider. */
const signInPath = '/api/v1/auth/sign-in'

const signIn = defineRedirectRoute({
  ...open,
  path: signInPath,
  doc: 'Redirects a browser to the sign-in page of the identity provider',
  query: SignInQuery,
  handle: async ({ query: { return: returnTo }, headers, publicUrl }, gateway, { setCookie }) => {
    requireIdp(gateway)
    const { location, cookies } = gateway.auth.signIn.begin({ headers, publicUrl: publicUrl() }, returnTo)
    cookies.forEach(setCookie)
    return location
  },
})

const signInCallback = defineRedirectRoute({
  ...open,
  path: '/api/v1/auth/callback',
  doc: 'Callback of the identity provider',
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
    'no identity provider is configured; sign in by posting an API key to /api/v1/auth/session',
  )
}

/** Returns the identity and the permissions of a caller. */
export const describeCaller = (
  identity: Identity,
  { auth, keys, policy }: Pick<Gateway, 'auth' | 'keys' | 'policy'>,
): Me => {
  const current = policy()
  const may = (access: 'read' | 'write') =>
    findRouteAccessError({ access, feature: null }, identity, current) === undefined
  const usable = listUsableFeatures(identity, current.permissions)
  const provider = auth.provider()
  return {
    kind: identity.kind,
    subject: identity.subject,
    ...identity.profile,
    provider,
    features: features.filter((feature) => usable === 'all' || usable.includes(feature)),
    may: { read: may('read'), write: may('write') },
    signIn: { page: provider === 'idp' ? signInPath : null, key: keys.enabled() },
  }
}

interface KeyCookieOptions {
  env: Environment
  nowMs: number
  headers: IncomingHttpHeaders
  publicUrl(): string
}

/** Returns a `Set-Cookie` line that expires with the key. The key is the session, so revoking it ends the session. */
const keyCookieLine = (key: string, { env, nowMs, headers, publicUrl }: KeyCookieOptions): string => {
  const { SVC_API_KEY_SECRET: secret } = parseSettings(apiKeySettings, env)
  const claims = secret && verifyKeySignature(key, secret)
  const maxAgeMs = claims === undefined ? 0 : claims.exp * 1000 - nowMs
  return formatSetCookie(keyCookie, key, { maxAgeMs, secure: isHttpsRequest(headers, publicUrl()) })
}

export const sessionRoutes: readonly Route[] = [me, signInWithKey, signOut, signIn, signInCallback]
