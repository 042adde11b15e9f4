import type { Logger } from 'pino'
import { clientVariables } from '#proto/build-variables.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { ignoredBillingSettings, type IgnoredSetting, ignoredEditionSettings } from './edition.ts'
import { limitBindings } from '../limits/config.ts'

/** Says once of each variable that is set and changes nothing that it does not, so that nobody relies on it. */
export const warnOfIgnoredSettings = (env: Environment, build: BuildFacts | undefined, log: Logger): void => {
  for (const { name, reason } of ignoredSettings(env, build))
    log.warn({ variable: name, reason }, 'variable without effect')
}

/** Every variable that is set and changes nothing. */
export const ignoredSettings = (env: Environment, build: BuildFacts | undefined): IgnoredSetting[] => [
  ...ignoredBillingSettings(env, build),
  ...ignoredEditionSettings(env, build),
  ...ignoredBindings(env),
  ...(build ? otherThanBuilt(env, build) : []),
]

const ignoredBindings = (env: Environment): IgnoredSetting[] =>
  Object.entries(read(limitBindings, env))
    .filter(([, text]) => text !== undefined)
    .map(([name]) => ({
      name,
      reason:
        'Only the runtime of the edge platform binds it; here REDIS_URL or a state database makes limits the fleet’s.',
    }))

/** What browsers get was inlined when the web was built. */
const otherThanBuilt = (env: Environment, { client }: BuildFacts): IgnoredSetting[] =>
  Object.keys(clientVariables)
    .filter((name) => env[name]?.trim() && env[name].trim() !== client[name])
    .map((name) => ({
      name,
      reason: 'The web was built with another value; build it again to change what browsers get.',
    }))
