import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import { isKeeper, readFigures } from './keeper.ts'
import { maxHosts } from './host-list.ts'
import type { HostAddress, LastGoodHosts } from './truncated.ts'

const key = 'query:last-good-hosts'
/** A host and the Keeper node beside it. */
const addressesPerHost = 2
const Addresses = z.array(z.string()).max(addressesPerHost * maxHosts)

/** The last good list in the state store: a list that is cut off is found out after a restart too. A process without hosts keeps none. */
export const lastGoodHosts = (
  store: Store,
  { COLUMNDB_HOST, SVC_HOSTS_FILE }: Environment,
): LastGoodHosts | undefined =>
  COLUMNDB_HOST || SVC_HOSTS_FILE
    ? {
        read: async () => (await store.get(key, Addresses).catch(() => undefined)) ?? [],
        write: async (addresses) => void (await store.update(key, Addresses, () => ({ value: [...addresses] }))),
      }
    : undefined

const answersWithinMs = 2_000
const maxPingBytes = 1_024

/** Whether the server that belongs there answers, which a proxy or a page of another server does not count as. No credentials are sent. */
export const answersIn =
  ({ trusted }: Pick<Net, 'trusted'>) =>
  async ({ kind, url }: Pick<HostAddress, 'kind' | 'url'>): Promise<boolean> => {
    try {
      if (kind === 'keeper') {
        const response = await trusted(url, { timeoutMs: answersWithinMs })
        return isKeeper(readFigures(await response.text()))
      }
      const response = await trusted(pingOf(url), { timeoutMs: answersWithinMs, maxBytes: maxPingBytes })
      return response.ok && (await response.text()).trim() === 'Ok.'
    } catch {
      return false
    }
  }

/** A proxy tells its hosts apart by the path. */
const pingOf = (url: URL): URL => {
  const ping = new URL(url)
  ping.pathname = `${url.pathname.replace(/\/$/, '')}/ping`
  return ping
}
