import type { Logger } from 'pino'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { sealKey } from '#shared/seal/config.ts'
import { databaseLayer } from './layers/database.ts'
import { environmentLayer, invalidVariables } from './layers/environment.ts'
import { emptyLayer, type Layer } from './layers/layer.ts'
import type { Policy } from './policy.ts'
import { type FloorsOf, resolvePolicy } from './layers/resolve.ts'
import type { PolicyStore } from '../stores/stores.ts'

/** How long what the database said is used: a change through another process shows within this. */
const freshMs = 2_000

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
  clock: Clock
  log: Logger
}

/** Brings database, file and environment together. While the database does not answer, what it said last holds. */
export const openPolicy = ({ env, store, file, floorsOf, clock, log }: Places): PolicyBook => {
  for (const { name, sentence } of invalidVariables(env)) {
    log.warn({ variable: name, reason: sentence }, 'variable cannot be meant; its default stands in')
  }
  let database = emptyLayer('database')
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let changes = 0
  const warned = new Set<string>()

  const readDatabase = async (): Promise<void> => {
    const known = changes
    try {
      const { layer, unread } = databaseLayer(await store.all(), sealKey(env))
      database = layer
      for (const entry of unread.filter((entry) => !warned.has(entry))) {
        warned.add(entry)
        log.warn({ entry }, 'setting of alerts is not understood and left out')
      }
    } catch (error) {
      log.warn({ err: error }, 'settings of alerts cannot be read; those read last hold')
    }
    // What changed meanwhile may have been missed.
    if (known === changes) readAtMs = clock.now()
  }

  /** What was read after now was read before the clock was set back. */
  const isFresh = (): boolean => {
    const ageMs = clock.now() - readAtMs
    return ageMs >= 0 && ageMs < freshMs
  }

  const layers = async (): Promise<readonly Layer[]> => {
    while (!isFresh()) {
      reading ??= readDatabase().finally(() => {
        reading = undefined
      })
      await reading
    }
    return [database, file, environmentLayer(env)]
  }

  return {
    layers,
    current: async () => resolvePolicy(await layers(), env, floorsOf),
    changed: () => {
      changes += 1
      readAtMs = Number.NEGATIVE_INFINITY
    },
  }
}
