import { z } from 'zod'
import type { Handlers, Service } from '#proto/contract.ts'
import { type reportRowMethods, reportRowSets } from '#proto/report-rows.ts'
import type { Store } from '#shared/store/store.ts'
import { whenAvailable } from '#shared/bus/when-available.ts'
import { readRecords } from '../analysis/records.ts'
import { askFor } from '../clickhouse/availability.ts'
import { clickhouseCode } from '../clickhouse/failure.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { Parts } from '../parts.ts'
import type { WithStore } from '../rules/earlier.ts'
import { reportSets } from './report-sets.ts'

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

/** Asks one host for one set of rows about a period. */
const reportRows =
  (parts: Parts & WithStore): Handlers<Service<typeof reportRowMethods>>['reportRows'] =>
  async ({ hostKey, set, fromMs, toMs }, call) => {
    const { hosts, client } = parts
    const host = hosts.get(hostKey)
    const { requires, sql: template } = reportSets[set]
    const { logs } = await client.capabilities(host, call)
    const [from, to] = [Math.floor(fromMs / 1_000), Math.ceil(toMs / 1_000)]
    const period = { before: Math.max(0, 2 * from - to), from, to }
    const sql = expandMacros(template(period), { window: undefined, zone: undefined, logs })
    const ask = async () =>
      readRecords(host, reportRowSets[set], await client.run(host, { what: `report/${set}`, sql }, call))
    const { told, unavailable } = await askFor(client, host, { requires }, call, () =>
      set === 'certificates' ? certificatesOf(parts, hostKey, ask) : ask(),
    )
    return { rows: told ?? [], unavailable }
  }

/** What reports are made of. */
export const reportRowHandlers = (parts: Parts & WithStore): Handlers<Service<typeof reportRowMethods>> => ({
  reportRows: reportRows(parts),
})
