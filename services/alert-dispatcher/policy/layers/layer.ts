import type {
  AlertSettings,
  ChannelSettings,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  Route,
  RuleSettings,
} from '#proto/alert-policy.ts'
import type { WebhookTarget } from '../../policy.ts'

/** What one place says of alerts; absent is left to the places below. */
export interface Layer {
  source: 'database' | 'file' | 'environment'
  general: AlertSettings
  /** 0 gathers nothing. */
  digestMinutes: number | undefined
  /** By rule id. */
  rules: Readonly<Record<string, RuleSettings>>
  /** By name of the channel. */
  channels: Readonly<Record<string, ChannelLayer>>
  custom: readonly CustomRule[]
  maintenance: readonly MaintenanceWindow[]
  quietHours: readonly QuietHours[]
  routes: readonly Route[]
  webhookTargets: readonly WebhookTarget[]
}

/** What one place says of a channel. */
export interface ChannelLayer extends ChannelSettings {
  /** Texts of variables, by name of the variable they stand in for. */
  variables?: Readonly<Record<string, string>>
  /** Texts that were saved in the product, by name of the variable they stand in for. */
  saved?: Readonly<Record<string, string>>
  /** Names of the variables whose saved secrets the present key does not decrypt. */
  unreadable?: readonly string[]
  /** Names of variables whose texts stand in for others, by name of the variable they stand in for. */
  fromVariables?: Readonly<Record<string, string>>
}

export const emptyLayer = (source: Layer['source']): Layer => ({
  source,
  general: {},
  digestMinutes: undefined,
  rules: {},
  channels: {},
  custom: [],
  maintenance: [],
  quietHours: [],
  routes: [],
  webhookTargets: [],
})

/** Nothing is gathered for no time. */
export const digestMinutesOf = ({ enabled, windowMinutes }: DigestSettings): number => (enabled ? windowMinutes : 0)

/** Something with the place that settled it. */
export type Sourced<T> = T & { source: Layer['source'] }

/** Of everything with an id what the highest place says, the highest place first. */
export const mergeById = <T extends { id: string }>(
  layers: readonly Layer[],
  of: (layer: Layer) => readonly T[],
): Sourced<T>[] => {
  const merged = new Map<string, Sourced<T>>()
  for (const layer of layers) {
    for (const entry of of(layer)) if (!merged.has(entry.id)) merged.set(entry.id, { ...entry, source: layer.source })
  }
  return [...merged.values()]
}

/** Of each field what the highest place that has it says. */
export const mergeFields = <T extends object>(
  layers: readonly Layer[],
  of: (layer: Layer) => T | undefined,
): { values: T; sources: { [K in keyof T]?: Layer['source'] } } => {
  const lowestFirst = layers.toReversed().map((layer) => ({ said: said(of(layer)), source: layer.source }))
  const sourced = lowestFirst.map(({ said, source }) =>
    Object.fromEntries(Object.keys(said).map((key) => [key, source])),
  )
  // Every value came under its own name out of a `T`, and every source under the name of a value.
  return {
    values: Object.assign({}, ...lowestFirst.map(({ said }) => said)) as T,
    sources: Object.assign({}, ...sourced) as { [K in keyof T]?: Layer['source'] },
  }
}

const said = (fields: object | undefined): object =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined))
