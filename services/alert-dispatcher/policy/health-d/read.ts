import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, parse as parsePath } from 'node:path'
import type { Logger } from 'pino'
import { z } from 'zod'
import { inCloudMode } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { NoYaml, parseYaml } from '#shared/config/yaml.ts'
import { policySettings } from '../layers/environment.ts'
import { emptyLayer, type Layer } from '../layers/layer.ts'
import type { ChannelSpec } from '../saved/fields.ts'
import type { Document, FileProblem } from './entries.ts'
import { files } from './files.ts'

const longestFile = 1_048_576
const extensions = new Set(['.yaml', '.yml'])

/** What the files of a folder say together, and all that means nothing in them. */
export interface HealthFiles {
  layer: Layer
  /** YAML files that are there. */
  files: string[]
  problems: FileProblem[]
}

/** Reads a folder of alert definitions; one that is not there says nothing. */
export const readHealthFiles = (directory: string, channels: readonly ChannelSpec[]): HealthFiles => {
  const problems: FileProblem[] = []
  const names = namesIn(directory)
  const parts = names.map((file): Partial<Layer> => {
    const report = (entry: string, reason: string) => void problems.push({ file, entry, reason })
    const { name } = parsePath(file)
    const take = files[name]
    if (!take) report('', `is not known here; known are ${Object.keys(files).join(', ')}`)
    else if (names.find((other) => parsePath(other).name === name) !== file) report('', 'is there under another ending')
    else {
      const document = documentIn(join(directory, file))
      if (typeof document !== 'string') return take(document, report, channels)
      report('', document)
    }
    return {}
  })
  return { layer: Object.assign(emptyLayer('file'), ...parts), files: names, problems }
}

/** YAML files in their order; what begins with a dot is how Kubernetes mounts the others. */
const namesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith('.') && extensions.has(parsePath(name).ext.toLowerCase()))
      .toSorted()
  } catch {
    return []
  }
}

const Table = z.record(z.string(), z.unknown())

/** The table in a file, or why there is none: by the place of what is wrong alone, for the words of YAML quote the file. */
const documentIn = (path: string): Document | string => {
  let text: string
  try {
    if (statSync(path).size > longestFile) return `is longer than ${longestFile} bytes`
    text = readFileSync(path, 'utf8')
  } catch {
    return 'cannot be read'
  }
  try {
    const table = Table.safeParse(parseYaml(text) ?? {})
    return table.success ? table.data : 'must be a table'
  } catch (error) {
    if (!(error instanceof NoYaml)) throw error
    return error.line === undefined ? 'is no YAML' : `is no YAML from line ${error.line} on`
  }
}

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
