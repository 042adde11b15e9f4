import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, parse as parsePath } from 'node:path'
import type { Logger } from 'pino'
import { z } from 'zod'
import { isCloudMode } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { YamlError, parseYaml } from '#shared/config/yaml.ts'
import { policySettings } from '../layers/environment.ts'
import { createEmptyLayer, type PolicyLayer } from '../layers/layer.ts'
import type { ChannelSpec } from '../saved-channels/channel-fields.ts'
import type { YamlDocument, FileProblem } from './parse-entries.ts'
import { fileParsers } from './file-parsers.ts'

const maxFileBytes = 1_048_576
const extensions = new Set(['.yaml', '.yml'])

/** The merged settings of a folder and all invalid entries. */
export interface HealthFiles {
  layer: PolicyLayer
  /** Names of the YAML files that were found. */
  files: string[]
  problems: FileProblem[]
}

/** Reads a folder of alert definitions; a missing folder is empty. */
export const readHealthFiles = (directory: string, channels: readonly ChannelSpec[]): HealthFiles => {
  const problems: FileProblem[] = []
  const names = listYamlFiles(directory)
  const parts = names.map((file): Partial<PolicyLayer> => {
    const report = (entry: string, reason: string) => void problems.push({ file, entry, reason })
    const { name } = parsePath(file)
    const take = fileParsers[name]
    if (!take) report('', `is unknown; allowed: ${Object.keys(fileParsers).join(', ')}`)
    else if (names.find((other) => parsePath(other).name === name) !== file)
      report('', 'also exists with another extension')
    else {
      const document = readDocument(join(directory, file))
      if (typeof document !== 'string') return take(document, report, channels)
      report('', document)
    }
    return {}
  })
  return { layer: Object.assign(createEmptyLayer('file'), ...parts), files: names, problems }
}

/** Returns the YAML files by name. Names with a leading dot are internal entries of a Kubernetes volume. */
const listYamlFiles = (directory: string): string[] => {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith('.') && extensions.has(parsePath(name).ext.toLowerCase()))
      .toSorted()
  } catch {
    return []
  }
}

const Table = z.record(z.string(), z.unknown())

/**
 * Returns the top-level mapping of a file, or why it cannot be read. YAML error messages quote the file, so only the
 * line number is reported.
 */
const readDocument = (path: string): YamlDocument | string => {
  let text: string
  try {
    if (statSync(path).size > maxFileBytes) return `is longer than ${maxFileBytes} bytes`
    text = readFileSync(path, 'utf8')
  } catch {
    return 'cannot be read'
  }
  try {
    const table = Table.safeParse(parseYaml(text) ?? {})
    return table.success ? table.data : 'must be a mapping'
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return error.line === undefined ? 'is not valid YAML' : `is not valid YAML from line ${error.line}`
  }
}

/**
 * Reads the files in `SVC_HEALTH_CONFIG_DIRECTORY` once; invalid entries are logged and skipped. Cloud mode ignores
 * files, which are only for self-hosted installations.
 */
export const loadFileLayer = (env: Environment, log: Logger, channels: readonly ChannelSpec[]): PolicyLayer => {
  if (isCloudMode(env)) {
    if (env.SVC_HEALTH_CONFIG_DIRECTORY)
      log.warn({ variable: 'SVC_HEALTH_CONFIG_DIRECTORY' }, 'setting ignored in cloud mode')
    return createEmptyLayer('file')
  }
  const { SVC_HEALTH_CONFIG_DIRECTORY: directory } = parseSettings(policySettings, env)
  const { layer, files, problems } = readHealthFiles(directory, channels)
  for (const { file, entry, reason } of problems) log.warn({ file, entry, reason }, 'alert file entry skipped')
  for (const variable of findUnsetVariables(layer, env)) log.warn({ variable }, 'alert file variable not set')
  if (files.length > 0) log.info({ files, skipped: problems.length }, 'alert files read')
  return layer
}

const findUnsetVariables = ({ channels, webhookTargets }: PolicyLayer, env: Environment): string[] => {
  const ofChannels = Object.values(channels).flatMap(({ fromVariables }) => Object.values(fromVariables ?? {}))
  const ofTargets = webhookTargets.flatMap(({ urlEnv, headersEnv }) =>
    [urlEnv, headersEnv].filter((name) => name !== undefined),
  )
  return [...new Set([...ofChannels, ...ofTargets])].filter((name) => !env[name])
}
