import type { Logger } from 'pino'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { sealKey } from '#shared/seal/config.ts'
import { databaseLayer } from './layers/database.ts'
import { environmentLayer, invalidVariables } from './layers/environment.ts'
import { emptyLayer, type Layer } from './layers/layer.ts'
import { openLastKnown } from './last-known.ts'
import type { Policy } from './policy.ts'
import { type FloorsOf, resolvePolicy } from './layers/resolve.ts'
import type { PolicyStore } from '../stores/stores.ts'

/** What operators have settled, from all places. */
export interface PolicyBook {
  current(): Promise<Policy>
  /** What each place says, the highest first. */
  layers(): Promise<readonly Layer[]>
  /** What the database said is read anew before it is used again. */
  changed(): void
}

interface Places {
  env: Environment
  store: PolicyStore
  /** Read once. */
  file: Layer
  floorsOf: FloorsOf
  /** Webhooks that people brought. */
  subscriptions?(): Promise<Policy['subscriptions']>
  /** Chats that people installed the chat application for. */
  chatApplications?(): Promise<Policy['chatApplications']>
  clock: Clock
  log: Logger
}

/** Brings database, file and environment together. While the database does not answer, what it said last holds. */
export const openPolicy = ({
  env,
  store,
  file,
  floorsOf,
  subscriptions = async () => [],
  chatApplications = async () => [],
  clock,
  log,
}: Places): PolicyBook => {
  for (const { name, sentence } of invalidVariables(env)) {
    log.warn({ variable: name, reason: sentence }, 'variable cannot be meant; its default stands in')
  }
  const warned = new Set<string>()
  const database = openLastKnown<Layer>({
    initial: emptyLayer('database'),
    clock,
    async read() {
      const { layer, unread } = databaseLayer(await store.all(), sealKey(env))
      for (const entry of unread.filter((entry) => !warned.has(entry))) {
        warned.add(entry)
        log.warn({ entry }, 'saved alert setting cannot be read and is ignored')
      }
      return layer
    },
    log,
    named: 'settings of alerts',
  })
  const layers = async (): Promise<readonly Layer[]> => [await database.get(), file, environmentLayer(env)]

  return {
    layers,
    current: async () =>
      resolvePolicy(await layers(), env, floorsOf, {
        subscriptions: await subscriptions(),
        chatApplications: await chatApplications(),
      }),
    changed: () => database.changed(),
  }
}
