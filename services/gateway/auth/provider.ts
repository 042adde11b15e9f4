import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type SettingValues } from '#shared/config/setting.ts'
import { resolveCloudMode } from '../installation/edition.ts'
import { authSettings, type AuthProvider } from './config.ts'

const builtSettings = {
  CLIENT_AUTH_PROVIDER: authSettings.SVC_AUTH_PROVIDER,
  CLIENT_IDP_PUBLISHABLE_KEY: authSettings.SVC_IDP_PUBLISHABLE_KEY,
} as const

/**
 * Returns the authentication settings of the web build. Throws `InvalidSettings` for an invalid value, which must not
 * disable authentication.
 */
export const readBuildAuthSettings = (build: BuildInfo | undefined): SettingValues<typeof builtSettings> => {
  const { CLIENT_AUTH_PROVIDER, CLIENT_IDP_PUBLISHABLE_KEY } = build?.client ?? {}
  return parseSettings(builtSettings, {
    CLIENT_AUTH_PROVIDER: CLIENT_AUTH_PROVIDER ?? undefined,
    CLIENT_IDP_PUBLISHABLE_KEY: CLIENT_IDP_PUBLISHABLE_KEY ?? undefined,
  })
}

const { SVC_API_KEY_SECRET, SVC_AUTH_PROVIDER, SVC_IDP_PUBLIC_READ, SVC_TRUSTED_ALLOW_INSECURE } = authSettings
const providerSettings = { SVC_AUTH_PROVIDER }
const anonymousSettings = { SVC_API_KEY_SECRET, SVC_IDP_PUBLIC_READ }
const headerSettings = { SVC_TRUSTED_ALLOW_INSECURE }

/**
 * Returns the provider: the run-time setting, else that of the web build, else `idp` in cloud mode and `none`
 * otherwise. Cloud mode never overrides the provider of the build.
 */
export const resolveAuthProvider = (env: Environment, build: BuildInfo | undefined): AuthProvider => {
  const { SVC_AUTH_PROVIDER: chosen } = parseSettings(providerSettings, env)
  return chosen ?? readBuildAuthSettings(build).CLIENT_AUTH_PROVIDER ?? providerOfMode(env, build)
}

const providerOfMode = (env: Environment, build: BuildInfo | undefined): AuthProvider => {
  const cloud = resolveCloudMode(build, env)
  return cloud.runtime || cloud.build ? 'idp' : 'none'
}

/** Access of anonymous callers: `write` without any sign-in method, else `read` or `nothing`. */
export type AnonymousAccess = 'write' | 'read' | 'nothing'

/** Returns the access of callers without credentials, which depends on the authentication mode. */
export const resolveAnonymousAccess = (env: Environment, build: BuildInfo | undefined): AnonymousAccess => {
  const provider = resolveAuthProvider(env, build)
  const { SVC_API_KEY_SECRET: secret, SVC_IDP_PUBLIC_READ: publicRead } = parseSettings(anonymousSettings, env)
  if (provider === 'none') return secret ? 'nothing' : 'write'
  if (provider !== 'idp') return 'nothing'
  return (publicRead ?? resolveCloudMode(build, env).runtime) ? 'read' : 'nothing'
}

/** Returns whether requests are accepted without verified credentials, so that network access alone is enough. */
export const allowsUnverifiedRequests = (env: Environment, build: BuildInfo | undefined): boolean => {
  if (resolveAnonymousAccess(env, build) !== 'nothing') return true
  return resolveAuthProvider(env, build) === 'trusted' && parseSettings(headerSettings, env).SVC_TRUSTED_ALLOW_INSECURE
}
