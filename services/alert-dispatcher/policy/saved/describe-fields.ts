import type { ChannelField } from '#proto/alert-policy.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { ShownTarget } from '#proto/webhook-targets.ts'
import { variablesOf } from '../../channels/targets.ts'
import { readHeaders } from '../../channels/webhook-target-list.ts'
import type { ChannelPolicy, WebhookTarget } from '../policy.ts'
import { type ChannelSpec, fieldsOf } from './fields.ts'

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
