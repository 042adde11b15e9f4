import { type Feature, features } from '#proto/call.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Values } from '#shared/config/setting.ts'
import { type AnonymousRight, anonymousRight } from '../auth/provider.ts'
import { featureSettings, type FeatureAccess } from './config.ts'

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

/** What one feature is to its callers. */
interface Permission {
  enabled: boolean
  access: FeatureAccess
  /** The setting that switched it off; null while it is on. */
  offBy: string | null
}

/** Every feature has one. */
export type Permissions = Readonly<Record<Feature, Permission>>
/** What the file says of a feature; it need not say all of it. */
export type FilePermission = Partial<Omit<Permission, 'offBy'>>
/** What the file says; it need not know every feature. */
export type FilePermissions = Readonly<Partial<Record<Feature, FilePermission>>>

/**
 * What stands for each feature. The environment wins over the file; where the two kinds of variables disagree the
 * stricter one stands, since templates tend to write every default out.
 */
export const resolvePermissions = (said: Values<typeof featureSettings>, file: FilePermissions): Permissions => {
  const permission = (feature: Feature): Permission => {
    const offBy = whatSwitchesOff(feature, said, file)
    const access = said[`SVC_FEATURE_${feature}_ACCESS`] ?? file[feature]?.access ?? 'public'
    return {
      enabled: offBy === null,
      access: said.SVC_AUTH_REQUIRED_FEATURES.has(feature) ? 'authenticated' : access,
      offBy,
    }
  }
  // Made of every feature, which is what the type says.
  return Object.fromEntries(features.map((feature) => [feature, permission(feature)])) as Permissions
}

const whatSwitchesOff = (feature: Feature, said: Values<typeof featureSettings>, file: FilePermissions) => {
  const own = `SVC_FEATURE_${feature}_ENABLED` as const
  if (said.SVC_DISABLED_FEATURES.has(feature)) return 'SVC_DISABLED_FEATURES'
  if (said[own] === false) return own
  return said[own] === undefined && file[feature]?.enabled === false ? 'SVC_CONFIG_FILE' : null
}
