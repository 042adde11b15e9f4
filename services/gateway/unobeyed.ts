import type { Logger } from 'pino'
import { clientVariables } from '#proto/build-variables.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { unobeyedBilling } from './billing/billing.ts'
import { unobeyedEdition } from './edition/edition.ts'
import { limitBindings } from './limits/config.ts'

/** A variable that is set and changes nothing here. */
export interface Unobeyed {
  name: string
  /** Why, in a sentence that holds no value. */
  reason: string
}

/** Says once of each variable that is set and changes nothing that it does not, so that nobody relies on it. */
export const warnOfUnobeyed = (env: Environment, build: BuildFacts | undefined, log: Logger): void => {
  for (const { name, reason } of unobeyed(env, build)) log.warn({ variable: name, reason }, 'variable without effect')
}

/** Every variable that is set and changes nothing. */
export const unobeyed = (env: Environment, build: BuildFacts | undefined): Unobeyed[] => [
  ...unobeyedBilling(env, build),
  ...unobeyedEdition(env, build),
  ...unobeyedBindings(env),
  ...(build ? otherThanBuilt(env, build) : []),
]

const unobeyedBindings = (env: Environment): Unobeyed[] =>
  Object.entries(read(limitBindings, env))
    .filter(([, text]) => text !== undefined)
    .map(([name]) => ({
      name,
      reason:
        'Only the runtime of the edge platform binds it; here REDIS_URL or a state database makes limits the fleet’s.',
    }))

/** What browsers get was inlined when the web was built. */
const otherThanBuilt = (env: Environment, { client }: BuildFacts): Unobeyed[] =>
  Object.keys(clientVariables)
    .filter((name) => env[name]?.trim() && env[name].trim() !== client[name])
    .map((name) => ({
      name,
      reason: 'The web was built with another value; build it again to change what browsers get.',
    }))
