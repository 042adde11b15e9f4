import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { openBrokenChannels } from './broken-channels.ts'
import { openLostRoutes } from './lost-routes.ts'
import type { PolicyBook } from './open-policy.ts'
import { openUnsoundRules } from './unsound-rules.ts'

/** Opens what logs, at the start and with each sweep, the rules, routes and channels that cannot work as they are configured. */
export const openWarnings = async (env: Environment, log: Logger, book: Pick<PolicyBook, 'current'>) => ({
  warnOfUnsoundRules: openUnsoundRules(log),
  warnOfLostRoutes: await openLostRoutes(env, log, book),
  warnOfBrokenChannels: await openBrokenChannels(env, log, book),
})
