import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Values } from '#shared/config/setting.ts'
import { cloudMode } from '../installation/edition.ts'
import { authSettings, type Provider } from './config.ts'

const builtSettings = {
  CLIENT_AUTH_PROVIDER: authSettings.SVC_AUTH_PROVIDER,
  CLIENT_IDP_PUBLISHABLE_KEY: authSettings.SVC_IDP_PUBLISHABLE_KEY,
} as const

/** Returns the provider chosen at build time. Throws `InvalidSettings` for an invalid value, which must not count as none. */
export const builtAuth = (build: BuildFacts | undefined): Values<typeof builtSettings> => {
  const { CLIENT_AUTH_PROVIDER, CLIENT_IDP_PUBLISHABLE_KEY } = build?.client ?? {}
  return read(builtSettings, {
    CLIENT_AUTH_PROVIDER: CLIENT_AUTH_PROVIDER ?? undefined,
    CLIENT_IDP_PUBLISHABLE_KEY: CLIENT_IDP_PUBLISHABLE_KEY ?? undefined,
  })
}

const { SVC_API_KEY_SECRET, SVC_AUTH_PROVIDER, SVC_IDP_PUBLIC_READ, SVC_TRUSTED_ALLOW_INSECURE } = authSettings
const obeyed = { SVC_AUTH_PROVIDER }
const obeyedForAnonymous = { SVC_API_KEY_SECRET, SVC_IDP_PUBLIC_READ }
const obeyedForHeaders = { SVC_TRUSTED_ALLOW_INSECURE }

/**
 * Returns the provider: the value at run time, else that of the build, else the one that cloud mode requires. At run time only the
 * variable itself can weaken the choice of the build.
 */
export const providerOf = (env: Environment, build: BuildFacts | undefined): Provider => {
  const { SVC_AUTH_PROVIDER: chosen } = read(obeyed, env)
  return chosen ?? builtAuth(build).CLIENT_AUTH_PROVIDER ?? providerOfMode(env, build)
}

const providerOfMode = (env: Environment, build: BuildFacts | undefined): Provider => {
  const cloud = cloudMode(build, env)
  return cloud.runtime || cloud.build ? 'idp' : 'none'
}

/** Permissions of anonymous callers: everything without a sign-in method, or reading, or nothing. */
export type AnonymousRight = 'write' | 'read' | 'nothing'

/** The specification's table of modes, for callers without credentials. */
export const anonymousRight = (env: Environment, build: BuildFacts | undefined): AnonymousRight => {
  const provider = providerOf(env, build)
  const { SVC_API_KEY_SECRET: secret, SVC_IDP_PUBLIC_READ: publicRead } = read(obeyedForAnonymous, env)
  if (provider === 'none') return secret ? 'nothing' : 'write'
  if (provider !== 'idp') return 'nothing'
  return (publicRead ?? cloudMode(build, env).runtime) ? 'read' : 'nothing'
}

/** Whether a request may count without a credential in it that is checked, so that being able to reach the server is enough. */
export const admitsUnproven = (env: Environment, build: BuildFacts | undefined): boolean => {
  if (anonymousRight(env, build) !== 'nothing') return true
  return providerOf(env, build) === 'trusted' && read(obeyedForHeaders, env).SVC_TRUSTED_ALLOW_INSECURE
}
