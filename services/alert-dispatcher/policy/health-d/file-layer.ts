import type { Logger } from 'pino'
import { inCloudMode } from '#shared/config/cloud-mode.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { emptyLayer, type Layer } from '../layers/layer.ts'
import { policySettings } from '../layers/settings.ts'
import type { ChannelSpec } from '../saved/fields.ts'
import { readHealthFiles } from './read.ts'

/**
 * What the files of `SVC_HEALTH_CONFIG_DIRECTORY` say, read once; what means nothing is skipped and named in a warning each. They are for
 * those who host the product themselves: in cloud mode nothing is read.
 */
export const fileLayer = (env: Environment, log: Logger, channels: readonly ChannelSpec[]): Layer => {
  if (inCloudMode(env)) {
    if (env.SVC_HEALTH_CONFIG_DIRECTORY)
      log.warn({ variable: 'SVC_HEALTH_CONFIG_DIRECTORY' }, 'variable not read in cloud mode')
    return emptyLayer('file')
  }
  const { SVC_HEALTH_CONFIG_DIRECTORY: directory } = read(policySettings, env)
  const { layer, files, problems } = readHealthFiles(directory, channels)
  for (const { file, entry, reason } of problems) log.warn({ file, entry, reason }, 'entry of alert files skipped')
  for (const variable of unsetVariables(layer, env))
    log.warn({ variable }, 'alert files name a variable that is not set')
  if (files.length > 0) log.info({ files, skipped: problems.length }, 'alert files read')
  return layer
}

const unsetVariables = ({ channels, webhookTargets }: Layer, env: Environment): string[] => {
  const ofChannels = Object.values(channels).flatMap(({ fromVariables }) => Object.values(fromVariables ?? {}))
  const ofTargets = webhookTargets.flatMap(({ urlEnv, headersEnv }) =>
    [urlEnv, headersEnv].filter((name) => name !== undefined),
  )
  return [...new Set([...ofChannels, ...ofTargets])].filter((name) => !env[name])
}
