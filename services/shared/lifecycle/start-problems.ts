import { findBusProblems } from '../bus/config.ts'
import type { Environment } from '../config/environment.ts'
import { processSettings } from '../config/process.ts'
import { findSettingProblems, listSecretNames, type SettingProblem } from '../config/setting.ts'
import type { ServiceConfig } from './service.ts'
import { findStoreProblems } from '../store/problems.ts'
import { clientVariables } from '#proto/build-variables.ts'

/** Prefixes with which web build tools, and older releases, expose variables to the browser. */
const clientPrefix = /^(?:CLIENT|NEXT_PUBLIC|PUBLIC|VITE)_(?<rest>[A-Z0-9_]+)$/

/**
 * Returns a problem for each set variable with a client prefix that is not read, naming the variable that is read
 * instead.
 */
export const findUnreadVariables = (known: Iterable<string>, env: Environment): SettingProblem[] => {
  const read = new Set([...Object.keys(clientVariables), ...known])
  return Object.keys(env).flatMap((name) => {
    const rest = clientPrefix.exec(name)?.groups?.rest
    if (rest === undefined || !env[name] || read.has(name)) return []
    const instead = [rest, `SVC_${rest}`, `CLIENT_${rest}`].find((each) => read.has(each))
    return instead === undefined ? [] : [{ name, sentence: `is no longer read; set ${instead} instead` }]
  })
}

/** The services that a process runs. */
export interface StartPlan {
  /** The `config.ts` exports of the chosen services. */
  configs: readonly ServiceConfig[]
  chosen: readonly string[]
  /** Services that run in other processes. */
  elsewhere: readonly string[]
}

/** Returns every problem that prevents a start with these variables. */
export const findStartProblems = ({ configs, chosen, elsewhere }: StartPlan, env: Environment): SettingProblem[] => {
  const problems: SettingProblem[] = []
  for (const config of listConfigs(configs)) {
    problems.push(...findSettingProblems(config.settings, env), ...(config.problems?.(env) ?? []))
  }
  problems.push(...findBusProblems(env, chosen))
  if (env.SVC_INSTANCE && !instancePattern.test(env.SVC_INSTANCE)) {
    problems.push({ name: 'SVC_INSTANCE', sentence: 'must be 1 to 64 lower-case letters, digits and dashes' })
  }
  if (elsewhere.length > 0 && !env.NATS_URL) {
    const sentence = `must be set to run ${joinNames(chosen)} without ${joinNames(elsewhere)}: processes communicate over NATS; run without arguments to start all services in one process`
    problems.push({ name: 'NATS_URL', sentence })
  }
  return problems.filter((problem, index) => problems.findIndex(isSameProblem(problem)) === index)
}

/** Several services may read the same variable, so its problem is reported once. */
const isSameProblem =
  ({ name, sentence }: SettingProblem) =>
  (other: SettingProblem): boolean =>
    other.name === name && other.sentence === sentence

/** Returns the configs of the chosen services and of the process itself. */
const listConfigs = (configs: readonly ServiceConfig[]): ServiceConfig[] => [
  { settings: processSettings, problems: (env) => findStoreProblems(env, Boolean(env.NATS_URL)) },
  ...configs,
]

/** Returns the names of all settings that contain secrets. */
export const collectSecretNames = (configs: readonly ServiceConfig[]): string[] =>
  listConfigs(configs).flatMap(({ settings }) => listSecretNames(settings))

const instancePattern = /^[a-z0-9-]{1,64}$/

/** Formats the problems, one per line. */
export const describeProblems = (problems: readonly SettingProblem[]): string =>
  ['watchhouse cannot start:', ...problems.map(({ name, sentence }) => `  ${name}: ${sentence}`), ''].join('\n')

/** Joins names for a sentence: `query, mcp and gateway`. */
export const joinNames = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names)
