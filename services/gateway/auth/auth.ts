import type { Logger } from 'pino'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, read } from '#shared/config/setting.ts'
import { publicUrlSettings } from '../request/public-url.ts'
import { builtAuth, providerOf } from './provider.ts'
import { authProblems, authSettings, isProxyNamed, type Provider } from './config.ts'
import type { Denied } from './denied.ts'
import { type Identify, openIdentify } from './identify.ts'
import { idpAddresses } from './idp/addresses.ts'
import { type AccessTokens, openAccessTokens } from './idp/access-token.ts'
import { openProviderApi } from './idp/provider-api.ts'
import { openRenewal, openIdpSessions } from './idp/sessions.ts'
import { openSessionTokens } from './idp/session-token.ts'
import { openSignIn, type SignIn, openSignOut, type SignOut } from './idp/sign-in.ts'
import type { ApiKeys } from './keys/keys.ts'
import { openKeySets } from './key-sets.ts'
import type { AskJson } from './outgoing.ts'
import { openEdgeAccess } from './proxy/proxy.ts'

/** Who asks, and how they come to be somebody. */
export interface Auth {
  identify: Identify
  provider(): Provider
  signIn: SignIn
  signOut: SignOut
  accessTokens: AccessTokens
}

interface AuthOptions {
  env: Environment
  build: BuildFacts | undefined
  keys: ApiKeys
  denied: Denied
  clock: Clock
  log: Logger
  /** Asks addresses that the operator named. */
  ask: AskJson
}

export const openAuth = ({ env, build, keys, denied, clock, log, ask }: AuthOptions): Auth => {
  const provider = () => providerOf(env, build)
  const addresses = () => idpAddresses(env, build)
  // Throws for what the build says and cannot mean, whether or not anything at run time outdoes it.
  builtAuth(build)
  const problems = authProblems(env, provider())
  if (problems.length > 0) throw new InvalidSettings(problems)
  if (provider() === 'idp') warnOfProvider(env, addresses() !== undefined, log)
  if (provider() === 'proxy' && !isProxyNamed(env)) {
    log.warn('neither SVC_EDGE_ACCESS_TEAM_DOMAIN nor SVC_PROXY_AUTH_SECRET is set: no proxy can vouch for anybody')
  }

  const keySets = openKeySets({ ask, clock, log })
  const site = () => read(publicUrlSettings, env).SVC_PUBLIC_URL?.origin
  const tokens = openSessionTokens({ addresses, site, clock, keySets, denied })
  const api = openProviderApi(env, ask)
  const renew = openRenewal({ tokens, api, clock, log })
  const idp = openIdpSessions({ env, tokens, renew })
  const edgeAccess = openEdgeAccess({ env, clock, keySets })
  return {
    identify: openIdentify({ env, build, keys, idp, edgeAccess }),
    provider,
    signIn: openSignIn({ addresses, tokens, keySets, clock }),
    signOut: openSignOut({ tokens, api, log }),
    accessTokens: openAccessTokens({ api, clock, log, denied }),
  }
}

const { IDP_SECRET_KEY, SVC_IDP_PUBLISHABLE_KEY } = authSettings

/** Says at the start what the provider cannot do here for lack of a setting. */
const warnOfProvider = (env: Environment, hasAddress: boolean, log: Logger): void => {
  const { IDP_SECRET_KEY: secret, SVC_IDP_PUBLISHABLE_KEY: key } = read(
    { IDP_SECRET_KEY, SVC_IDP_PUBLISHABLE_KEY },
    env,
  )
  if (!hasAddress) {
    const reason = key === undefined ? 'is not set' : 'names no host'
    log.warn(`SVC_IDP_PUBLISHABLE_KEY ${reason}, nor is IDP_OAUTH_ISSUER set: sign-in by the identity provider is off`)
  }
  if (secret === undefined) {
    log.warn(
      'IDP_SECRET_KEY is not set: /api/mcp refuses tokens of the identity provider, and sessions end with their token',
    )
  }
}
