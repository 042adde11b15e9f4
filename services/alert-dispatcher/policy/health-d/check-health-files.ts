import { statSync } from 'node:fs'
import type { Environment } from '#shared/config/environment.ts'
import { channels } from '../../channels/index.ts'
import { buildEnvironmentLayer } from '../layers/environment.ts'
import { resolvePolicy } from '../layers/resolve.ts'
import { findRoutesWithoutTarget, type RuleCatalogue, findInvalidRules } from '../warnings.ts'
import { type HealthFiles, readHealthFiles } from './health-files.ts'
import type { FileProblem } from './parse-entries.ts'

/** Validates a folder of alert definitions before deployment; returns the report and whether all files are valid. */
export const checkHealthFiles = (
  directory: string,
  known: RuleCatalogue,
  env: Environment,
): { sound: boolean; text: string } => {
  if (!isFolder(directory))
    return {
      sound: false,
      text: `${directory}: folder not found; pass the folder that contains the alert definitions\n`,
    }
  const read = readHealthFiles(directory, channels)
  const { files } = read
  if (files.length === 0) return { sound: false, text: `${directory}: no .yaml or .yml file found\n` }
  const problems = [...read.problems, ...findInvalidRuleSettings(read, known), ...findUnreachableRoutes(read, env)]
  if (problems.length === 0) return { sound: true, text: `${files.join(', ')}: valid\n` }
  const lines = problems.map(({ file, entry, reason }) => `${file}: ${entry === '' ? reason : `${entry}: ${reason}`}`)
  return { sound: false, text: `${lines.join('\n')}\n` }
}

/** Returns routes to unknown targets. Disabled targets are accepted, because variables may enable them. */
const findUnreachableRoutes = ({ layer, files }: HealthFiles, env: Environment): FileProblem[] => {
  const file = files.find((name) => name.startsWith('routing.')) ?? 'routing.yaml'
  const policy = resolvePolicy([layer, buildEnvironmentLayer(env)], env, () => [])
  const unknown = findRoutesWithoutTarget(policy, env).filter(({ isKnown }) => !isKnown)
  return unknown.map(({ route, reason }) => ({ file, entry: route.id, reason }))
}

/** Returns the problems of rule settings. All of them belong to `alerts.yaml`, the only file that contains rules. */
const findInvalidRuleSettings = ({ layer, files }: HealthFiles, known: RuleCatalogue): FileProblem[] => {
  const file = files.find((name) => name.startsWith('alerts.')) ?? 'alerts.yaml'
  return findInvalidRules(layer, known).map(({ rule, failure }) => ({ file, entry: rule, reason: failure.message }))
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
