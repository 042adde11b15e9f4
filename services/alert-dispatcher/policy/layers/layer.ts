import type {
  AlertSettings,
  ChannelSettings,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  NotificationRoute,
  RuleSettings,
  SqlRule,
} from '#proto/alert-policy.ts'
import type { WebhookTarget } from '../../policy.ts'

/** Alert configuration of one source; absent values come from lower layers. */
export interface PolicyLayer {
  source: 'database' | 'file' | 'environment'
  general: AlertSettings
  /** 0 disables the digest. */
  digestMinutes: number | undefined
  /** Overrides by rule id. */
  rules: Readonly<Record<string, RuleSettings>>
  /** Channel settings by channel id. */
  channels: Readonly<Record<string, ChannelLayer>>
  custom: readonly CustomRule[]
  sqlRules: readonly SqlRule[]
  maintenance: readonly MaintenanceWindow[]
  quietHours: readonly QuietHours[]
  routes: readonly NotificationRoute[]
  webhookTargets: readonly WebhookTarget[]
}

/** Channel configuration of one source. */
export interface ChannelLayer extends ChannelSettings {
  /** Values from alert files, keyed by the channel variable to override. */
  variables?: Readonly<Record<string, string>>
  /** Values saved through the API, keyed by the channel variable to override. */
  saved?: Readonly<Record<string, string>>
  /** Whether the saved addresses were entered on this machine. */
  isLocal?: boolean | undefined
  /** Variables whose saved secrets the current key cannot decrypt. */
  unreadable?: readonly string[]
  /** Names of the environment variables to read the values from, keyed by the channel variable to override. */
  fromVariables?: Readonly<Record<string, string>>
}

/** Returns a layer that configures nothing. */
export const createEmptyLayer = (source: PolicyLayer['source']): PolicyLayer => ({
  source,
  general: {},
  digestMinutes: undefined,
  rules: {},
  channels: {},
  custom: [],
  sqlRules: [],
  maintenance: [],
  quietHours: [],
  routes: [],
  webhookTargets: [],
})

/** Returns the digest window in minutes; 0 if the digest is disabled. */
export const toDigestMinutes = ({ enabled, windowMinutes }: DigestSettings): number => (enabled ? windowMinutes : 0)

/** An entry with the source that configures it. */
export type SourcedEntry<T> = T & { source: PolicyLayer['source'] }

/** Merges entries by id; the highest layer wins and its entries come first. */
export const mergeById = <T extends { id: string }>(
  layers: readonly PolicyLayer[],
  of: (layer: PolicyLayer) => readonly T[],
): SourcedEntry<T>[] => {
  const merged = new Map<string, SourcedEntry<T>>()
  for (const layer of layers) {
    for (const entry of of(layer)) if (!merged.has(entry.id)) merged.set(entry.id, { ...entry, source: layer.source })
  }
  return [...merged.values()]
}

/** Merges fields; the highest layer that sets a field wins. */
export const mergeFields = <T extends object>(
  layers: readonly PolicyLayer[],
  of: (layer: PolicyLayer) => T | undefined,
): { values: T; sources: { [K in keyof T]?: PolicyLayer['source'] } } => {
  const lowestFirst = layers
    .toReversed()
    .map((layer) => ({ defined: removeUndefined(of(layer)), source: layer.source }))
  const sourced = lowestFirst.map(({ defined, source }) =>
    Object.fromEntries(Object.keys(defined).map((key) => [key, source])),
  )
  // `Object.assign` loses the types. `values` has fields of `T`, and `sources` has the same field names.
  return {
    values: Object.assign({}, ...lowestFirst.map(({ defined }) => defined)) as T,
    sources: Object.assign({}, ...sourced) as { [K in keyof T]?: PolicyLayer['source'] },
  }
}

const removeUndefined = (fields: object | undefined): object =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined))
