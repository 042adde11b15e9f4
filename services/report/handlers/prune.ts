import type { Handlers, Service } from '#proto/contract.ts'
import type { pruneMethods } from '#proto/prune.ts'
import { read } from '#shared/config/setting.ts'
import { insightStoreSettings } from '../stores/settings.ts'
import type { InsightParts } from './insights.ts'

const dayMs = 86_400_000

/** Removes insights that are older than the settings say. */
export const prune =
  ({ env, clock, kept }: InsightParts): Handlers<Service<typeof pruneMethods>>['prune'] =>
  async (_input, call) => {
    const beforeMs = clock.now() - read(insightStoreSettings, env).SVC_INSIGHTS_DAYS * dayMs
    return { removed: { insights: await kept.store.prune(beforeMs, call) } }
  }
