import type { ChannelField } from '#proto/alert-policy.ts'
import type { WebhookTargetView } from '#proto/webhook-targets.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Setting } from '#shared/config/setting.ts'
import type { Channel } from '../../channels/channel.ts'
import { resolveChannelVariables } from '../../channels/targets.ts'
import { parseWebhookHeaders } from '../../channels/webhook-target-list.ts'
import type { ChannelPolicy, WebhookTarget } from '../../policy.ts'

/** Id and variables of a channel. */
export type ChannelSpec = Pick<Channel, 'id' | 'settings' | 'address'>

/** A channel setting with its name in files and the API: `routingKey` is the field of `…_ROUTING_KEY`. */
export interface ChannelSettingField {
  field: string
  variable: string
  setting: Setting<unknown>
}

/** Returns the settings of a channel without `enabled` and `minSeverity`, which are separate fields. */
export const listFields = ({ id, settings }: ChannelSpec): ChannelSettingField[] => {
  const prefix = `HEALTH_ALERT_${toVariablePart(id)}_`
  return Object.entries(settings)
    .filter(([variable]) => variable.startsWith(prefix))
    .map(([variable, setting]) => ({ field: toFieldName(variable.slice(prefix.length)), variable, setting }))
    .filter(({ field }) => field !== 'enabled' && field !== 'minSeverity')
}

const toVariablePart = (id: string): string => id.replaceAll('-', '_').toUpperCase()

const toFieldName = (rest: string): string =>
  rest.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the channel settings for users: values with their sources, secrets masked. */
export const describeFields = (
  channel: ChannelSpec,
  configured: ChannelPolicy | undefined,
  env: Environment,
): ChannelField[] => {
  const effective = resolveChannelVariables(channel, env, configured)
  return listFields(channel).map(({ field, variable, setting }) => {
    const text = effective[variable] || null
    const sources = [
      ['database', configured?.variables[variable]],
      ['file', configured?.fromFiles?.[variable]],
      ['environment', env[variable]],
    ] as const
    const source = text === null ? 'default' : sources.find(([, each]) => each)?.[0]
    const isSecret = setting.audience === 'secret'
    const value = isSecret && text !== null ? maskSecret(text) : text
    return { field, variable, isSecret, value, source: source ?? 'default' }
  })
}

/** Returns a webhook for users: the masked URL and the names of headers. */
export const describeTarget = (target: WebhookTarget, env: Environment): WebhookTargetView => {
  const { name, enabled, format, minSeverity, templates, saved, urlEnv = '', headersEnv = '', source } = target
  const url = saved?.url ?? env[urlEnv]
  const headers = parseWebhookHeaders(saved?.headers ?? env[headersEnv] ?? '{}') ?? {}
  return {
    id: saved?.id ?? name,
    name,
    enabled,
    format,
    minSeverity,
    ...(templates && { templates }),
    url: url ? maskSecret(url) : null,
    headers: Object.keys(headers),
    source: source ?? 'environment',
  }
}

/** Number of characters at the end of a secret that stay visible. */
const visibleSecretLength = 4
/** Minimum length of a secret whose end is shown; the end of a shorter one would reveal too much. */
const minLengthToShowEnd = 12

/** Masks a secret except for its last characters. */
export const maskSecret = (secret: string): string =>
  `••••${secret.length < minLengthToShowEnd ? '' : secret.slice(-visibleSecretLength)}`
