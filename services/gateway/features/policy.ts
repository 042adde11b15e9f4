import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Values } from '#shared/config/setting.ts'
import { type AnonymousRight, anonymousRight } from '../auth/provider.ts'
import { featureSettings } from './config.ts'
import { type FilePermissions, type Permissions, resolvePermissions } from './permissions.ts'

/** What decides whether a caller may use a route. */
export interface Policy {
  permissions: Permissions
  /** What callers may do of whom nothing is known. */
  anonymous: AnonymousRight
}

/** The policy in force when it is asked for. Permissions are resolved again only when one of their variables has changed. */
export const openPolicy = (env: Environment, build: BuildFacts | undefined, file: FilePermissions): (() => Policy) => {
  let resolved: { said: Values<typeof featureSettings>; permissions: Permissions } | undefined
  return () => {
    const said = read(featureSettings, env)
    if (resolved?.said !== said) resolved = { said, permissions: resolvePermissions(said, file) }
    return { permissions: resolved.permissions, anonymous: anonymousRight(env, build) }
  }
}
