import { busProblems } from '../bus/config.ts'
import type { Environment } from '../config/environment.ts'
import { processSettings } from '../config/process.ts'
import { type SettingProblem, problemsOf, secretNames } from '../config/setting.ts'
import type { ServiceConfig } from './service.ts'
import { storeProblems } from '../store/problems.ts'

/** What a process is about to run. */
export interface StartPlan {
  /** Configs of the chosen services. */
  configs: readonly ServiceConfig[]
  chosen: readonly string[]
  /** Services that are left to other processes. */
  elsewhere: readonly string[]
}

/** Everything that keeps a process from starting with these variables, at once and in words. */
export const startProblems = ({ configs, chosen, elsewhere }: StartPlan, env: Environment): SettingProblem[] => {
  const problems: SettingProblem[] = []
  for (const config of everyConfig(configs)) {
    problems.push(...problemsOf(config.settings, env), ...(config.problems?.(env) ?? []))
  }
  problems.push(...busProblems(env, chosen))
  if (env.SVC_INSTANCE && !instancePattern.test(env.SVC_INSTANCE)) {
    problems.push({ name: 'SVC_INSTANCE', sentence: 'must be 1 to 64 lower-case letters, digits and dashes' })
  }
  if (elsewhere.length > 0 && !env.NATS_URL) {
    const sentence = `must be set to run ${listed(chosen)} without ${listed(elsewhere)}: processes communicate over NATS; run without arguments to start all services in one process`
    problems.push({ name: 'NATS_URL', sentence })
  }
  return problems.filter((problem, index) => problems.findIndex(isThe(problem)) === index)
}

/** Several services read some variables; a problem with one is reported once. */
const isThe =
  ({ name, sentence }: SettingProblem) =>
  (other: SettingProblem): boolean =>
    other.name === name && other.sentence === sentence

/** What the process obeys besides the chosen services. */
const everyConfig = (configs: readonly ServiceConfig[]): ServiceConfig[] => [
  { settings: processSettings, problems: (env) => storeProblems(env, Boolean(env.NATS_URL)) },
  ...configs,
]

/** Names of all settings that are secrets. */
export const secretNamesOf = (configs: readonly ServiceConfig[]): string[] =>
  everyConfig(configs).flatMap(({ settings }) => secretNames(settings))

const instancePattern = /^[a-z0-9-]{1,64}$/

/** The problems as a person reads them, one to a line. */
export const describeProblems = (problems: readonly SettingProblem[]): string =>
  ['watchhouse cannot start:', ...problems.map(({ name, sentence }) => `  ${name}: ${sentence}`), ''].join('\n')

/** Names in a sentence: `query, mcp and gateway`. */
export const listed = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names)
