import { statSync } from 'node:fs'
import type { Environment } from '#shared/config/environment.ts'
import { channels } from '../../channels/index.ts'
import { environmentLayer } from '../layers/environment.ts'
import { resolvePolicy } from '../layers/resolve.ts'
import { lostRoutes, type Catalogue, unsoundRules } from '../warnings.ts'
import { type HealthFiles, readHealthFiles } from './read.ts'
import type { FileProblem } from './entries.ts'

/** Checks a folder of alert definitions before it is deployed: what to print, and whether all of it means something. */
export const checkHealthFiles = (
  directory: string,
  known: Catalogue,
  env: Environment,
): { sound: boolean; text: string } => {
  if (!isFolder(directory))
    return {
      sound: false,
      text: `${directory}: there is no such folder; name the one that holds the alert definitions\n`,
    }
  const read = readHealthFiles(directory, channels)
  const { files } = read
  if (files.length === 0) return { sound: false, text: `${directory}: the folder has no .yaml or .yml file\n` }
  const problems = [...read.problems, ...settledInVain(read, known), ...leadingNowhere(read, env)]
  if (problems.length === 0) return { sound: true, text: `${files.join(', ')}: nothing wrong\n` }
  const lines = problems.map(({ file, entry, reason }) => `${file}: ${entry === '' ? reason : `${entry}: ${reason}`}`)
  return { sound: false, text: `${lines.join('\n')}\n` }
}

/** Routes stand in one file alone. Whether a target is switched on is for the place to say where it will run. */
const leadingNowhere = ({ layer, files }: HealthFiles, env: Environment): FileProblem[] => {
  const file = files.find((name) => name.startsWith('routing.')) ?? 'routing.yaml'
  const policy = resolvePolicy([layer, environmentLayer(env)], env, () => [])
  const unknown = lostRoutes(policy, env).filter(({ isKnown }) => !isKnown)
  return unknown.map(({ route, reason }) => ({ file, entry: route.id, reason }))
}

/** Rules are named in one file alone. */
const settledInVain = ({ layer, files }: HealthFiles, known: Catalogue): FileProblem[] => {
  const file = files.find((name) => name.startsWith('alerts.')) ?? 'alerts.yaml'
  return unsoundRules(layer, known).map(({ rule, failure }) => ({ file, entry: rule, reason: failure.message }))
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
