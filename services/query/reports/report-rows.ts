import type { Handlers, Service } from '#proto/contract.ts'
import { type reportRowMethods, reportRowSets } from '#proto/report-rows.ts'
import { readRecords } from '../analysis/records.ts'
import { askFor } from '../availability.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { Parts } from '../handlers/parts.ts'
import type { WithStore } from '../rules/earlier.ts'
import { certificatesOf } from './certificates.ts'
import { reportSets } from './report-sets.ts'

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
