import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Logger } from 'pino'
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'
import { type Feature, features } from '#proto/call.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  parseSettings,
  type SettingValues,
  InvalidSettings,
  type SettingProblem,
  parseFlag,
  findSettingProblems,
} from '#shared/config/setting.ts'
import { parseYaml } from '#shared/config/yaml.ts'
import { type AnonymousAccess, resolveAnonymousAccess } from '../auth/provider.ts'
import { isEdgeRuntime } from '../request/client-address.ts'
import { featureSettings, type FeatureAccess, parseFeatureAccess, parseFeature } from './config.ts'

/** The rules that decide whether a caller may use a route. */
export interface AccessPolicy {
  permissions: Permissions
  /** Rights of anonymous callers. */
  anonymous: AnonymousAccess
}

/**
 * Returns a function that returns the current policy. Permissions are resolved again only when a feature variable
 * changes.
 */
export const createPolicyReader = (
  env: Environment,
  build: BuildInfo | undefined,
  file: FilePermissions,
): (() => AccessPolicy) => {
  let resolved: { values: SettingValues<typeof featureSettings>; permissions: Permissions } | undefined
  return () => {
    const values = parseSettings(featureSettings, env)
    if (resolved?.values !== values) resolved = { values, permissions: resolvePermissions(values, file) }
    return { permissions: resolved.permissions, anonymous: resolveAnonymousAccess(env, build) }
  }
}

/** The permission of one feature. */
interface Permission {
  enabled: boolean
  access: FeatureAccess
  /** Name of the setting that disables the feature; null if the feature is enabled. */
  offBy: string | null
}

/** The permissions of all features. */
export type Permissions = Readonly<Record<Feature, Permission>>
/** The entry of one feature in the configuration file. */
type FilePermission = Partial<Omit<Permission, 'offBy'>>
/** The feature entries of the configuration file. */
export type FilePermissions = Readonly<Partial<Record<Feature, FilePermission>>>

/**
 * Returns the permission of each feature. The environment overrides the file. When a list and a variable of the feature
 * disagree, the stricter one wins, because templates often write out every default.
 */
export const resolvePermissions = (
  values: SettingValues<typeof featureSettings>,
  file: FilePermissions,
): Permissions => {
  const permission = (feature: Feature): Permission => {
    const offBy = findDisablingSetting(feature, values, file)
    const access = values[`SVC_FEATURE_${feature}_ACCESS`] ?? file[feature]?.access ?? 'public'
    return {
      enabled: offBy === null,
      access: values.SVC_AUTH_REQUIRED_FEATURES.has(feature) ? 'authenticated' : access,
      offBy,
    }
  }
  // Object.fromEntries loses the key type; every feature is present.
  return Object.fromEntries(features.map((feature) => [feature, permission(feature)])) as Permissions
}

const findDisablingSetting = (
  feature: Feature,
  values: SettingValues<typeof featureSettings>,
  file: FilePermissions,
) => {
  const own = `SVC_FEATURE_${feature}_ENABLED` as const
  if (values.SVC_DISABLED_FEATURES.has(feature)) return 'SVC_DISABLED_FEATURES'
  if (values[own] === false) return own
  return values[own] === undefined && file[feature]?.enabled === false ? 'SVC_CONFIG_FILE' : null
}

const { SVC_CONFIG_FILE } = featureSettings

/**
 * Reads the features of `SVC_CONFIG_FILE`. Invalid entries are skipped with a warning. An unreadable file throws,
 * because it may disable features that would otherwise be open.
 */
export const readFeatureFile = (env: Environment, log: Logger): FilePermissions => {
  const { SVC_CONFIG_FILE: path } = parseSettings({ SVC_CONFIG_FILE }, env)
  if (path === undefined || isEdgeRuntime(env)) return {}
  const { permissions, skipped } = permissionsOf(readTable(path))
  for (const { entry, reason } of skipped) log.warn({ entry, reason }, 'entry of SVC_CONFIG_FILE skipped')
  return permissions
}

/** Returns the problems that prevent `SVC_CONFIG_FILE` from being read; empty if it can be read or is not set. */
export const findFeatureFileProblems = (env: Environment): readonly SettingProblem[] => {
  if (findSettingProblems({ SVC_CONFIG_FILE }, env).length > 0) return []
  const { SVC_CONFIG_FILE: path } = parseSettings({ SVC_CONFIG_FILE }, env)
  if (path === undefined || isEdgeRuntime(env)) return []
  try {
    readTable(path)
    return []
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems
    throw error
  }
}

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  '.toml': parseToml,
  '.yaml': parseYaml,
  '.yml': parseYaml,
}

const Table = z.record(z.string(), z.unknown())
const File = z.object({ features: Table.default({}) })

const readTable = (path: string): z.infer<typeof Table> => {
  const parser = parsers[extname(path).toLowerCase()]
  if (parser === undefined) throw invalidFile('must name a file that ends in .toml, .yaml or .yml')
  const file = File.safeParse(parsed(path, parser))
  if (!file.success) throw invalidFile('must name a file in which "features" is a table')
  return file.data.features
}

const parsed = (path: string, parser: (text: string) => unknown): unknown => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw invalidFile('names a file that cannot be read')
  }
  try {
    // An empty YAML file is null.
    return parser(text) ?? {}
  } catch {
    throw invalidFile(`names a file that is not valid ${extname(path).slice(1).toUpperCase()}`)
  }
}

const invalidFile = (sentence: string): InvalidSettings => new InvalidSettings([{ name: 'SVC_CONFIG_FILE', sentence }])

interface SkippedEntry {
  entry: string
  reason: string
}

/** Parses a features table. Each value is `{ enabled, access }` or a boolean for `enabled`. */
const permissionsOf = (table: z.infer<typeof Table>): { permissions: FilePermissions; skipped: SkippedEntry[] } => {
  const permissions: Partial<Record<string, FilePermission>> = {}
  const skipped: SkippedEntry[] = []
  for (const [id, values] of Object.entries(table)) {
    const feature = parseFeature(id)
    const fields = Table.safeParse(typeof values === 'boolean' ? { enabled: values } : values)
    if (feature === undefined) skipped.push({ entry: id, reason: 'unknown feature' })
    else if (!fields.success) skipped.push({ entry: id, reason: 'must be a table with enabled or access' })
    else permissions[feature] = permissionOf(id, fields.data, skipped)
  }
  return { permissions, skipped }
}

const permissionOf = (id: string, fields: z.infer<typeof Table>, skipped: SkippedEntry[]): FilePermission => {
  const permission: FilePermission = {}
  for (const [name, value] of Object.entries(fields)) {
    const skip = (reason: string) => skipped.push({ entry: `${id}.${name}`, reason })
    if (name === 'enabled') {
      const enabled = parseFlag(String(value))
      if (enabled === undefined) skip('must be true or false')
      else permission.enabled = enabled
    } else if (name === 'access') {
      const access = parseFeatureAccess(String(value))
      if (access === undefined) skip('must be public, guest or authenticated')
      else permission.access = access
    } else skip('is unknown; allowed: enabled, access')
  }
  return permission
}
