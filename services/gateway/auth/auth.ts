import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from 'express'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, parseSettings } from '#shared/config/setting.ts'
import type { Clock } from '#shared/time/clock.ts'
import { readBearerToken } from '../request/bearer.ts'
import { publicUrlSettings, resolvePublicUrl } from '../request/public-url.ts'
import { isAllowedOrigin } from '../server/cross-origin.ts'
import { findAuthProblems, authSettings, isProxyConfigured, type AuthProvider } from './config.ts'
import { readCookie, keyCookie, isCrossSiteWrite } from './cookies.ts'
import type { DeniedUsers } from './denied-users.ts'
import { anonymousCaller } from './identity.ts'
import { type AccessTokenVerifier, openAccessTokenVerifier } from './idp/access-token.ts'
import { resolveIdpAddresses } from './idp/addresses.ts'
import { createIdpApi } from './idp/provider-api.ts'
import { createSessionTokens } from './idp/session-token.ts'
import { createRenewal, openIdpSessions, type IdpSessions } from './idp/sessions.ts'
import { createSignIn, type SignIn, createSignOut, type SignOut } from './idp/sign-in.ts'
import { openKeySets } from './key-sets.ts'
import { hasKeyPrefix } from './keys/key-token.ts'
import type { ApiKeys } from './keys/keys.ts'
import type { FetchJson } from './fetch-json.ts'
import { readBuildAuthSettings, resolveAnonymousAccess, resolveAuthProvider } from './provider.ts'
import { createCloudflareAccess, type CloudflareAccess, identifyProxyUser, identifyTrustedUser } from './proxy/proxy.ts'

/** Authentication: identifies callers, and signs users in and out. */
export interface Auth {
  identify: Identify
  provider(): AuthProvider
  signIn: SignIn
  signOut: SignOut
  accessTokens: AccessTokenVerifier
}

interface AuthOptions {
  env: Environment
  build: BuildInfo | undefined
  keys: ApiKeys
  denied: DeniedUsers
  clock: Clock
  log: Logger
  /** Sends requests to addresses that the operator configured. */
  fetchJson: FetchJson
}

export const openAuth = ({ env, build, keys, denied, clock, log, fetchJson }: AuthOptions): Auth => {
  const provider = () => resolveAuthProvider(env, build)
  const addresses = () => resolveIdpAddresses(env, build)
  // Throws for invalid settings of the web build, even if run-time settings override them.
  readBuildAuthSettings(build)
  const problems = findAuthProblems(env, provider())
  if (problems.length > 0) throw new InvalidSettings(problems)
  if (provider() === 'idp') warnOfMissingProviderSettings(env, addresses() !== undefined, log)
  if (provider() === 'proxy' && !isProxyConfigured(env)) {
    log.warn('neither SVC_EDGE_ACCESS_TEAM_DOMAIN nor SVC_PROXY_AUTH_SECRET is set: proxy sign-in is disabled')
  }

  const keySets = openKeySets({ fetchJson, clock, log })
  const site = () => parseSettings(publicUrlSettings, env).SVC_PUBLIC_URL?.origin
  const tokens = createSessionTokens({ addresses, site, clock, keySets, denied })
  const api = createIdpApi(env, fetchJson)
  const renew = createRenewal({ tokens, api, clock, log })
  const idp = openIdpSessions({ env, tokens, renew })
  const edgeAccess = createCloudflareAccess({ env, clock, keySets })
  return {
    identify: openIdentify({ env, build, keys, idp, edgeAccess }),
    provider,
    signIn: createSignIn({ addresses, tokens, keySets, clock }),
    signOut: createSignOut({ tokens, api, log }),
    accessTokens: openAccessTokenVerifier({ api, clock, log, denied }),
  }
}

const { IDP_SECRET_KEY, SVC_IDP_PUBLISHABLE_KEY } = authSettings

/** Logs a warning for each feature of the identity provider that is disabled because a setting is missing. */
const warnOfMissingProviderSettings = (env: Environment, hasAddress: boolean, log: Logger): void => {
  const { IDP_SECRET_KEY: secret, SVC_IDP_PUBLISHABLE_KEY: key } = parseSettings(
    { IDP_SECRET_KEY, SVC_IDP_PUBLISHABLE_KEY },
    env,
  )
  if (!hasAddress) {
    const reason = key === undefined ? 'is not set' : 'names no host'
    log.warn(
      `SVC_IDP_PUBLISHABLE_KEY ${reason}, and IDP_OAUTH_ISSUER is not set: sign-in with the identity provider is disabled`,
    )
  }
  if (secret === undefined) {
    log.warn(
      'IDP_SECRET_KEY is not set: /api/mcp rejects tokens of the identity provider, and sessions cannot be renewed',
    )
  }
}

/**
 * Returns the caller of a request. Invalid credentials in an authorization header throw `unauthenticated`. Invalid
 * cookies and proxy headers are ignored, because browsers also send expired ones. Throws `forbidden` for a cross-site
 * write, and for a user without an allowed group.
 */
type Identify = (request: Request) => Promise<Identity>

interface IdentifyOptions {
  env: Environment
  build: BuildInfo | undefined
  keys: ApiKeys
  idp: IdpSessions
  edgeAccess: CloudflareAccess
}

const openIdentify = ({ env, build, keys, idp, edgeAccess }: IdentifyOptions): Identify => {
  const byProvider: Record<AuthProvider, (request: Request) => Promise<Identity | undefined>> = {
    none: async () => undefined,
    idp: (request) => idp.ofBrowser(request),
    proxy: (request) => identifyProxyUser(request, env, edgeAccess),
    trusted: async (request) => identifyTrustedUser(request, env),
  }

  const byKeyCookie = async ({ headers }: Request): Promise<Identity | undefined> => {
    const key = readCookie(headers, keyCookie)
    const identity = key === undefined ? undefined : await keys.verify(key)
    return identity && { ...identity, isBrowserSession: true }
  }

  return async (request) => {
    const provider = resolveAuthProvider(env, build)
    const { authorization, 'x-api-key': key } = request.headers
    const hasCredential = authorization !== undefined || key !== undefined
    const explicit = hasCredential ? await identifyExplicit(request.headers, provider, { keys, idp }) : undefined
    if (explicit !== undefined) return explicit
    const implicit = (await byProvider[provider](request)) ?? (await byKeyCookie(request))
    const isCovered = implicit !== undefined || isAnonymousWriter(request, env, build)
    if (isCovered && isCrossSiteWrite(request, () => resolvePublicUrl(request, env))) {
      throw new ServiceError('forbidden', 'cross-site request rejected: send requests from a page of this site')
    }
    return implicit ?? anonymousCaller
  }
}

/**
 * Returns whether network access alone lets this caller write. A page of another site that the user visits has it too,
 * unless the operator allows its origin.
 */
const isAnonymousWriter = ({ headers }: Request, env: Environment, build: BuildInfo | undefined): boolean =>
  resolveAnonymousAccess(env, build) === 'write' && !isAllowedOrigin(headers.origin, env)

/** Returns the caller of an API key or bearer token; undefined without one, or if the provider ignores the token. */
const identifyExplicit = async (
  headers: IncomingHttpHeaders,
  provider: AuthProvider,
  { keys, idp }: Pick<IdentifyOptions, 'keys' | 'idp'>,
): Promise<Identity | undefined> => {
  const bearer = readBearerToken(headers)
  const key = keyOf(headers, bearer)
  if (key !== undefined && keys.enabled()) return requireIdentity(await keys.verify(key), 'invalid API key')
  if (key !== undefined && provider !== 'none')
    throw createRefusal('API keys are disabled: SVC_API_KEY_SECRET is not set')
  if (bearer === undefined) return undefined
  if (provider === 'idp') return requireIdentity(await idp.ofToken(bearer), 'invalid session token')
  if (provider === 'none' && keys.enabled()) throw createRefusal('the bearer token is not an API key')
  // The token is ignored: a proxy may add its own tokens, and without a provider no tokens are checked.
  return undefined
}

const keyOf = ({ 'x-api-key': header }: IncomingHttpHeaders, bearer: string | undefined): string | undefined => {
  if (typeof header === 'string') return header
  return bearer !== undefined && hasKeyPrefix(bearer) ? bearer : undefined
}

const requireIdentity = (identity: Identity | undefined, sentence: string): Identity => {
  if (identity === undefined) throw createRefusal(sentence)
  return identity
}

const createRefusal = (sentence: string): ServiceError => new ServiceError('unauthenticated', sentence)
