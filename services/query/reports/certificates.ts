import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { whenAvailable } from '#shared/when-available.ts'
import { clickhouseCode } from '../clickhouse/failure.ts'
import type { Parts } from '../handlers/parts.ts'

/** A server that was given no certificate fails so when it is asked which it has. */
const failedToSetUp = 1000
const keptMs = 100 * 86_400_000

interface Place extends Pick<Parts, 'clock' | 'probe'> {
  store: Pick<Store, 'get' | 'update'>
}

/**
 * The rows of `system.certificates`, none where the server was given no certificate. There is no way to know that beforehand, and a server
 * notes each such failure as an error: so it is asked only once between two of its starts, at which it may be given one. Without a store it is asked each time.
 */
export const certificatesOf = async (
  place: Place,
  hostKey: string,
  ask: () => Promise<Record<string, unknown>[]>,
): Promise<Record<string, unknown>[]> => {
  const key = `query:reports:without-certificates:${hostKey}`
  const learntMs = await whenAvailable(() => place.store.get(key, z.number()))
  if (learntMs !== undefined && runsSince(place, hostKey, learntMs)) return []
  try {
    return await ask()
  } catch (error) {
    if (clickhouseCode(error) !== failedToSetUp) throw error
    await whenAvailable(() =>
      place.store.update(key, z.number(), () => ({ value: place.clock.now(), expiresInMs: keptMs })),
    )
    return []
  }
}

const runsSince = ({ probe }: Place, hostKey: string, atMs: number): boolean => {
  const { uptimeSeconds, checkedAtMs } = probe.known(hostKey).state
  return uptimeSeconds !== null && checkedAtMs !== null && checkedAtMs - uptimeSeconds * 1_000 < atMs
}
