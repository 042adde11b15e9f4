import type { ChannelField } from '#proto/alert-policy.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { ChannelPolicy } from '../policy.ts'
import { type ChannelSpec, fieldsOf } from './fields.ts'

/** The settings of a channel as people see them: where each comes from, and of secrets no more than their end. */
export const describeFields = (
  channel: ChannelSpec,
  settled: ChannelPolicy | undefined,
  env: Environment,
): ChannelField[] =>
  fieldsOf(channel).map(({ field, variable, setting }) => {
    const places = [
      ['database', settled?.variables[variable]],
      ['file', settled?.fromFiles?.[variable]],
      ['environment', env[variable]],
    ] as const
    const [source, text] = places.find(([, each]) => each !== undefined && each !== '') ?? ['default', null]
    const isSecret = setting.audience === 'secret'
    return { field, variable, isSecret, value: isSecret && text != null ? masked(text) : (text ?? null), source }
  })

const shown = 4
/** Of a shorter one its end would tell too much. */
const shortest = 12

const masked = (secret: string): string => `••••${secret.length < shortest ? '' : secret.slice(-shown)}`
