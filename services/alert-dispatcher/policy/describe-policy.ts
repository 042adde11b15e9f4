import type { AlertPolicy } from '#proto/alerting.ts'
import type { AlertSettings } from '#proto/alert-policy.ts'
import type { Channel } from '../channels/channel.ts'
import { brokenChannels, targetsNow } from '../channels/targets.ts'
import { listedTargets } from '../channels/webhook-targets.ts'
import type { Environment } from '#shared/config/environment.ts'
import { defaultGeneral } from './layers/environment.ts'
import { lostRoutes } from './warnings.ts'
import { type Layer, mergeById, mergeFields } from './layers/layer.ts'
import type { Policy } from '../policy.ts'
import { describeFields, describeTarget } from './saved/fields.ts'

const minuteMs = 60_000

interface Known {
  env: Environment
  layers: readonly Layer[]
  policy: Policy
  /** Whether there is a state database. */
  lasting: boolean
  channels: readonly Channel[]
}

/** All that is settled as people see it: what holds, and where it comes from. */
export const describePolicy = (known: Known): AlertPolicy => {
  const { layers, policy, lasting } = known
  return {
    lasting,
    general: generalOf(layers, policy),
    digestMinutes: {
      value: policy.digestMs / minuteMs,
      source: layers.find(({ digestMinutes }) => digestMinutes !== undefined)?.source ?? 'default',
    },
    channels: known.channels.map((channel) => describeChannel(known, channel)),
    webhookTargets: listedTargets(known.env, policy).map(({ name }) => name),
    targets: listedTargets(known.env, policy).map((target) => describeTarget(target, known.env)),
    rules: Object.keys(policy.rules).map((ruleId) => {
      const { values, sources } = mergeFields(layers, ({ rules }) => rules[ruleId])
      return { ...values, ruleId, sources }
    }),
    customRules: mergeById(layers, ({ custom }) => custom),
    maintenanceWindows: mergeById(layers, ({ maintenance }) => maintenance),
    quietHours: mergeById(layers, ({ quietHours }) => quietHours),
    routes: describeRoutes(known),
  }
}

/** A route that leads to nobody says why. */
const describeRoutes = ({ env, layers, policy }: Known): AlertPolicy['routes'] => {
  const problems = new Map(lostRoutes(policy, env).map(({ route, reason }) => [route.id, reason]))
  return mergeById(layers, ({ routes }) => routes).map((route) => ({
    ...route,
    problem: problems.get(route.id) ?? null,
  }))
}

const generalOf = (layers: readonly Layer[], policy: Policy): AlertPolicy['general'] => {
  const { values, sources } = mergeFields<AlertSettings>(layers, ({ general }) => general)
  const from = (field: keyof AlertSettings) => sources[field] ?? 'default'
  const { minSeverity, cooldownMinutes, breaches, clears } = { ...defaultGeneral, ...values }
  return {
    enabled: { value: policy.enabled, source: from('enabled') },
    minSeverity: { value: minSeverity, source: from('minSeverity') },
    cooldownMinutes: { value: cooldownMinutes, source: from('cooldownMinutes') },
    breaches: { value: breaches, source: from('breaches') },
    clears: { value: clears, source: from('clears') },
  }
}

const describeChannel = ({ env, layers, policy }: Known, channel: Channel): AlertPolicy['channels'][number] => {
  const { id } = channel
  const settled = policy.channels[id]
  const targets = (channels: Policy['channels']) =>
    targetsNow({ channels: [channel], env, policy: { ...policy, channels } })
  const possible = targets({ ...policy.channels, [id]: { variables: {}, ...settled, enabled: true } })
  const isConfigured = possible.length > 0
  return {
    channel: id,
    configured: isConfigured,
    enabled: targets(policy.channels).length > 0,
    minSeverity: settled?.minSeverity ?? possible[0]?.minSeverity ?? null,
    settings: describeFields(channel, settled, env),
    problem: brokenChannels({ channels: [channel], env, policy })[0]?.reason ?? null,
    source: layers.find(({ channels }) => channels[id])?.source ?? (isConfigured ? 'environment' : 'default'),
  }
}
