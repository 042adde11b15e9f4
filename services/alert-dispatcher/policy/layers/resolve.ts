import type { AlertSettings } from '#proto/alert-policy.ts'
import type { Severity } from '#proto/rules.ts'
import type { Environment } from '#shared/config/environment.ts'
import { defaultDigestMinutes, defaultAlertSettings } from './environment.ts'
import { type ChannelLayer, type PolicyLayer, mergeById, mergeFields } from './layer.ts'
import type { ChannelPolicy, Policy } from '../../policy.ts'
import { resolveSweepPlan } from '../../sweeps/sweep-settings.ts'

const minuteMs = 60_000

/** Returns the minimum severities of all enabled targets; null means the global one. */
export type MinSeverityLister = (
  reached: Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>,
) => readonly (Severity | null)[]

/** Merges layers field by field; the highest comes first. */
export const resolvePolicy = (
  layers: readonly PolicyLayer[],
  env: Environment,
  minSeveritiesOf: MinSeverityLister,
  fromUsers: Pick<Policy, 'subscriptions' | 'chatApplications'> = { subscriptions: [], chatApplications: [] },
): Policy => {
  const general = { ...defaultAlertSettings, ...mergeFields<AlertSettings>(layers, (layer) => layer.general).values }
  const digestMinutes = layers.find((layer) => layer.digestMinutes !== undefined)?.digestMinutes
  const reached = {
    channels: resolveChannels(layers, env),
    webhookTargets: resolveWebhookTargets(layers),
    ...fromUsers,
  }
  const routes = mergeById(layers, (layer) => layer.routes)
  const minSeverities = minSeveritiesOf(reached)
  const ofRoutes = routes.flatMap(({ enabled, minSeverity }) => (enabled ? minSeverity : []))
  return {
    ...reached,
    enabled: general.enabled ?? minSeverities.length > 0,
    minSeverity: general.minSeverity,
    leastSeverity: [...minSeverities, ...ofRoutes].includes('warning') ? 'warning' : general.minSeverity,
    cooldownMs: general.cooldownMinutes * minuteMs,
    digestMs: (digestMinutes ?? defaultDigestMinutes) * minuteMs,
    breaches: general.breaches,
    clears: general.clears,
    sweeps: resolveSweepPlan(env, general.sweepMinutes),
    rules: mergeFieldsByName(layers, ({ rules }) => rules),
    custom: mergeById(layers, ({ custom }) => custom),
    sqlRules: mergeById(layers, ({ sqlRules }) => sqlRules),
    maintenance: mergeById(layers, ({ maintenance }) => maintenance),
    quietHours: mergeById(layers, ({ quietHours }) => quietHours),
    routes,
  }
}

/** Merges entries by name, field by field. */
const mergeFieldsByName = <T extends object>(
  layers: readonly PolicyLayer[],
  of: (layer: PolicyLayer) => Readonly<Record<string, T>>,
): Record<string, T> => {
  const names = new Set(layers.flatMap((layer) => Object.keys(of(layer))))
  return Object.fromEntries([...names].map((name) => [name, mergeFields(layers, (layer) => of(layer)[name]).values]))
}

const resolveChannels = (layers: readonly PolicyLayer[], env: Environment): Record<string, ChannelPolicy> => {
  const merged = mergeFieldsByName<ChannelLayer>(layers, ({ channels }) => channels)
  const resolved = Object.entries(merged).map(([name, { variables, fromVariables, saved = {}, ...settings }]) => {
    const named = Object.entries(fromVariables ?? {}).flatMap(([variable, from]) => {
      const text = env[from]
      return text === undefined || text === '' ? [] : [[variable, text] as const]
    })
    const fromFiles = { ...variables, ...Object.fromEntries(named) }
    return [name, { ...settings, fromFiles, variables: saved }] as const
  })
  return Object.fromEntries(resolved)
}

const resolveWebhookTargets = (layers: readonly PolicyLayer[]): Policy['webhookTargets'] =>
  mergeById(layers, ({ webhookTargets }) => webhookTargets.map((target) => ({ ...target, id: target.name })))
