import { type Feature, features } from '#proto/call.ts'
import type { Values } from '#shared/config/setting.ts'
import type { FeatureAccess, featureSettings } from './config.ts'

/** What one feature is to its callers. */
export interface Permission {
  enabled: boolean
  access: FeatureAccess
}

/** Every feature has one. */
export type Permissions = Readonly<Record<Feature, Permission>>
/** What the file says; it need not know every feature, nor say all of one. */
export type FilePermissions = Readonly<Partial<Record<Feature, Partial<Permission>>>>

/**
 * What stands for each feature. The environment wins over the file; where the two kinds of variables disagree the
 * stricter one stands, since templates tend to write every default out.
 */
export const resolvePermissions = (said: Values<typeof featureSettings>, file: FilePermissions): Permissions => {
  const permission = (feature: Feature): Permission => {
    const enabled = said[`SVC_FEATURE_${feature}_ENABLED`] ?? file[feature]?.enabled ?? true
    const access = said[`SVC_FEATURE_${feature}_ACCESS`] ?? file[feature]?.access ?? 'public'
    return {
      enabled: enabled && !said.SVC_DISABLED_FEATURES.has(feature),
      access: said.SVC_AUTH_REQUIRED_FEATURES.has(feature) ? 'authenticated' : access,
    }
  }
  // Made of every feature, which is what the type says.
  return Object.fromEntries(features.map((feature) => [feature, permission(feature)])) as Permissions
}
