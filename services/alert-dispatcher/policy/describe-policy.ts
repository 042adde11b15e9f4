import type { AlertPolicy } from '#proto/alerting.ts'
import type { AlertSettings } from '#proto/alert-policy.ts'
import type { Channel } from '../channels/channel.ts'
import { findBrokenChannels, listEnabledTargets } from '../channels/targets.ts'
import { listWebhookTargets } from '../channels/webhook-targets.ts'
import type { Environment } from '#shared/config/environment.ts'
import { defaultAlertSettings } from './layers/environment.ts'
import { findRoutesWithoutTarget } from './warnings.ts'
import { type PolicyLayer, mergeById, mergeFields } from './layers/layer.ts'
import type { Policy } from '../policy.ts'
import { describeFields, describeTarget } from './saved-channels/channel-fields.ts'

const minuteMs = 60_000

interface DescribeDeps {
  env: Environment
  layers: readonly PolicyLayer[]
  policy: Policy
  /** Whether a state database is configured. */
  isPersistent: boolean
  channels: readonly Channel[]
}

/** Returns the configuration for users: the effective values and their sources. */
export const describePolicy = (known: DescribeDeps): AlertPolicy => {
  const { layers, policy, isPersistent } = known
  return {
    persistent: isPersistent,
    general: describeGeneral(layers, policy),
    digestMinutes: {
      value: policy.digestMs / minuteMs,
      source: layers.find(({ digestMinutes }) => digestMinutes !== undefined)?.source ?? 'default',
    },
    channels: known.channels.map((channel) => describeChannel(known, channel)),
    webhookTargets: listWebhookTargets(known.env, policy).map(({ name }) => name),
    targets: listWebhookTargets(known.env, policy).map((target) => describeTarget(target, known.env)),
    rules: Object.keys(policy.rules).map((ruleId) => {
      const { values, sources } = mergeFields(layers, ({ rules }) => rules[ruleId])
      return { ...values, ruleId, sources }
    }),
    customRules: mergeById(layers, ({ custom }) => custom),
    sqlRules: mergeById(layers, ({ sqlRules }) => sqlRules),
    maintenanceWindows: mergeById(layers, ({ maintenance }) => maintenance),
    quietHours: mergeById(layers, ({ quietHours }) => quietHours),
    routes: describeRoutes(known),
  }
}

/** Returns the routes; those without recipients have a problem description. */
const describeRoutes = ({ env, layers, policy }: DescribeDeps): AlertPolicy['routes'] => {
  const problems = new Map(findRoutesWithoutTarget(policy, env).map(({ route, reason }) => [route.id, reason]))
  return mergeById(layers, ({ routes }) => routes).map((route) => ({
    ...route,
    problem: problems.get(route.id) ?? null,
  }))
}

const describeGeneral = (layers: readonly PolicyLayer[], policy: Policy): AlertPolicy['general'] => {
  const { values, sources } = mergeFields<AlertSettings>(layers, ({ general }) => general)
  const from = (field: keyof AlertSettings) => sources[field] ?? 'default'
  const { minSeverity, cooldownMinutes, breaches, clears } = { ...defaultAlertSettings, ...values }
  const { isEnabled, intervalMinutes, sources: fromPlan } = policy.sweeps
  const sweepSource = (source: keyof typeof fromPlan) =>
    fromPlan[source] === 'saved' ? from('sweepMinutes') : fromPlan[source]
  return {
    enabled: { value: policy.enabled, source: from('enabled') },
    minSeverity: { value: minSeverity, source: from('minSeverity') },
    cooldownMinutes: { value: cooldownMinutes, source: from('cooldownMinutes') },
    breaches: { value: breaches, source: from('breaches') },
    clears: { value: clears, source: from('clears') },
    sweepsEnabled: { value: isEnabled, source: sweepSource('isEnabled') },
    sweepMinutes: { value: intervalMinutes, source: sweepSource('intervalMinutes') },
  }
}

const describeChannel = ({ env, layers, policy }: DescribeDeps, channel: Channel): AlertPolicy['channels'][number] => {
  const { id } = channel
  const configured = policy.channels[id]
  const targets = (channels: Policy['channels']) =>
    listEnabledTargets({ channels: [channel], env, policy: { ...policy, channels } })
  const possible = targets({ ...policy.channels, [id]: { variables: {}, ...configured, enabled: true } })
  const isConfigured = possible.length > 0
  return {
    channel: id,
    configured: isConfigured,
    enabled: targets(policy.channels).length > 0,
    minSeverity: configured?.minSeverity ?? possible[0]?.minSeverity ?? null,
    settings: describeFields(channel, configured, env),
    problem: findBrokenChannels({ channels: [channel], env, policy })[0]?.reason ?? null,
    source: layers.find(({ channels }) => channels[id])?.source ?? (isConfigured ? 'environment' : 'default'),
  }
}
