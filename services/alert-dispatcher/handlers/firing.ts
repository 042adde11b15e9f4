import type { Handlers } from '#proto/contract.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Store } from '#shared/store/store.ts'
import { FleetRecord, fleetKey } from '../conditions/fleet-record.ts'

/** What fires on each host, as the last sweep left it; asks no host. */
export const firing = (store: Store): Pick<Handlers<typeof alerts>, 'firing' | 'worstFindings'> => {
  const hosts = async () => Object.entries((await store.get(fleetKey, FleetRecord))?.hosts ?? {})
  return {
    firing: async () =>
      (await hosts()).flatMap(([hostKey, { firing }]) => (firing > 0 ? [{ hostKey, conditions: firing }] : [])),
    worstFindings: async () =>
      (await hosts()).flatMap(([hostKey, { worst }]) => (worst ? [{ hostKey, ...worst }] : [])),
  }
}
