import type { ChannelField } from '#proto/alert-policy.ts'
import type { ShownTarget } from '#proto/webhook-targets.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Setting } from '#shared/config/setting.ts'
import type { Channel } from '../../channels/channel.ts'
import { variablesOf } from '../../channels/targets.ts'
import { readHeaders } from '../../channels/webhook-target-list.ts'
import type { ChannelPolicy, WebhookTarget } from '../../policy.ts'

/** What a channel is called, and the variables that it reads. */
export type ChannelSpec = Pick<Channel, 'id' | 'settings' | 'address'>

/** A setting of a channel under the name that files and the API give it: `routingKey` stands for `…_ROUTING_KEY`. */
export interface Field {
  field: string
  variable: string
  setting: Setting<unknown>
}

/** What there is to settle of a channel besides its switch and its floor, which have fields of their own. */
export const fieldsOf = ({ id, settings }: ChannelSpec): Field[] => {
  const prefix = `HEALTH_ALERT_${inCapitals(id)}_`
  return Object.entries(settings)
    .filter(([variable]) => variable.startsWith(prefix))
    .map(([variable, setting]) => ({ field: fieldOf(variable.slice(prefix.length)), variable, setting }))
    .filter(({ field }) => field !== 'enabled' && field !== 'minSeverity')
}

const inCapitals = (id: string): string => id.replaceAll('-', '_').toUpperCase()

const fieldOf = (rest: string): string =>
  rest.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** The settings of a channel as people see them: where each comes from, and of secrets no more than their end. */
export const describeFields = (
  channel: ChannelSpec,
  settled: ChannelPolicy | undefined,
  env: Environment,
): ChannelField[] => {
  const effective = variablesOf(channel, env, settled)
  return fieldsOf(channel).map(({ field, variable, setting }) => {
    const text = effective[variable] || null
    const sources = [
      ['database', settled?.variables[variable]],
      ['file', settled?.fromFiles?.[variable]],
      ['environment', env[variable]],
    ] as const
    const source = text === null ? 'default' : sources.find(([, each]) => each)?.[0]
    const isSecret = setting.audience === 'secret'
    const value = isSecret && text !== null ? masked(text) : text
    return { field, variable, isSecret, value, source: source ?? 'default' }
  })
}

/** A webhook as people see it: of its address the end at most, of its headers the names. */
export const describeTarget = (target: WebhookTarget, env: Environment): ShownTarget => {
  const { name, enabled, format, minSeverity, templates, saved, urlEnv = '', headersEnv = '', source } = target
  const url = saved?.url ?? env[urlEnv]
  const headers = readHeaders(saved?.headers ?? env[headersEnv] ?? '{}') ?? {}
  return {
    id: saved?.id ?? name,
    name,
    enabled,
    format,
    minSeverity,
    ...(templates && { templates }),
    url: url ? masked(url) : null,
    headers: Object.keys(headers),
    source: source ?? 'environment',
  }
}

const shown = 4
/** Of a shorter one its end would tell too much. */
const shortest = 12

/** The end of a secret at most. */
export const masked = (secret: string): string => `••••${secret.length < shortest ? '' : secret.slice(-shown)}`
