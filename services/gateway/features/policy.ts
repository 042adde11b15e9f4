import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Logger } from 'pino'
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'
import { type Feature, features } from '#proto/call.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  read,
  type Values,
  InvalidSettings,
  type SettingProblem,
  parseFlag,
  problemsOf,
} from '#shared/config/setting.ts'
import { parseYaml } from '#shared/config/yaml.ts'
import { type AnonymousRight, anonymousRight } from '../auth/provider.ts'
import { isOnEdge } from '../request/client-address.ts'
import { featureSettings, type FeatureAccess, parseAccess, parseFeature } from './config.ts'

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
type FilePermission = Partial<Omit<Permission, 'offBy'>>
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

const { SVC_CONFIG_FILE } = featureSettings

/**
 * What `SVC_CONFIG_FILE` says of features, read once: entries that mean nothing are skipped and named in a warning, but a
 * file that cannot be read at all keeps the gateway from starting, for it may close what would else be open.
 */
export const readFeatureFile = (env: Environment, log: Logger): FilePermissions => {
  const { SVC_CONFIG_FILE: path } = read({ SVC_CONFIG_FILE }, env)
  if (path === undefined || isOnEdge(env)) return {}
  const { permissions, skipped } = permissionsOf(readTable(path))
  for (const { entry, reason } of skipped) log.warn({ entry, reason }, 'entry of SVC_CONFIG_FILE skipped')
  return permissions
}

/** What is wrong with the file as a whole. */
export const featureFileProblems = (env: Environment): readonly SettingProblem[] => {
  if (problemsOf({ SVC_CONFIG_FILE }, env).length > 0) return []
  const { SVC_CONFIG_FILE: path } = read({ SVC_CONFIG_FILE }, env)
  if (path === undefined || isOnEdge(env)) return []
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
  if (parser === undefined) throw refused('must name a file that ends in .toml, .yaml or .yml')
  const file = File.safeParse(parsed(path, parser))
  if (!file.success) throw refused('must name a file whose features are a table')
  return file.data.features
}

const parsed = (path: string, parser: (text: string) => unknown): unknown => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw refused('names a file that cannot be read')
  }
  try {
    // An empty YAML file is null.
    return parser(text) ?? {}
  } catch {
    throw refused(`names a file that is no ${extname(path).slice(1).toUpperCase()}`)
  }
}

const refused = (sentence: string): InvalidSettings => new InvalidSettings([{ name: 'SVC_CONFIG_FILE', sentence }])

interface Skipped {
  entry: string
  reason: string
}

/** What a features table says: for each id `{ enabled, access }`, or only whether it is enabled. */
const permissionsOf = (table: z.infer<typeof Table>): { permissions: FilePermissions; skipped: Skipped[] } => {
  const permissions: Partial<Record<string, FilePermission>> = {}
  const skipped: Skipped[] = []
  for (const [id, said] of Object.entries(table)) {
    const feature = parseFeature(id)
    const fields = Table.safeParse(typeof said === 'boolean' ? { enabled: said } : said)
    if (feature === undefined) skipped.push({ entry: id, reason: 'no such feature' })
    else if (!fields.success) skipped.push({ entry: id, reason: 'must be a table with enabled or access' })
    else permissions[feature] = permissionOf(id, fields.data, skipped)
  }
  return { permissions, skipped }
}

const permissionOf = (id: string, fields: z.infer<typeof Table>, skipped: Skipped[]): FilePermission => {
  const permission: FilePermission = {}
  for (const [name, value] of Object.entries(fields)) {
    const skip = (reason: string) => skipped.push({ entry: `${id}.${name}`, reason })
    if (name === 'enabled') {
      const enabled = parseFlag(String(value))
      if (enabled === undefined) skip('must be true or false')
      else permission.enabled = enabled
    } else if (name === 'access') {
      const access = parseAccess(String(value))
      if (access === undefined) skip('must be public, guest or authenticated')
      else permission.access = access
    } else skip('is not known here; known are enabled, access')
  }
  return permission
}
