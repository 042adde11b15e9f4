import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { policySettings } from './policy/layers/settings.ts'
import type { Delivery } from './delivery/open.ts'
import { deliverySettings } from './delivery/settings.ts'
import type { Stores } from './stores/stores.ts'

const dayMs = 86_400_000

interface Kept {
  stores: Stores
  delivery: Pick<Delivery, 'prune'>
  env: Environment
  clock: Clock
}

/** Removes what was told and settled longer ago than the settings say. */
export const prune =
  ({ stores, delivery, env, clock }: Kept): Handlers<typeof alerts>['prune'] =>
  async () => {
    const beforeMs = clock.now() - read(policySettings, env).SVC_ALERT_HISTORY_DAYS * dayMs
    const { history, episodes, eventEpisodes, silences } = stores
    return {
      removed: {
        history: await history.prune(beforeMs),
        episodes: (await episodes.prune(beforeMs)) + (await eventEpisodes.prune(beforeMs)),
        silences: await silences.prune(beforeMs),
        deliveries: await delivery.prune(clock.now() - read(deliverySettings, env).SVC_ALERT_DELIVERIES_DAYS * dayMs),
      },
    }
  }
