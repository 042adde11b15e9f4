import type { Handlers, Service } from '#proto/contract.ts'
import {
  type insightRowMethods,
  type InsightRowSet,
  insightRowSets,
  isReplicationRowSet,
  type ReplicationRowSet,
} from '#proto/insight-rows.ts'
import { readRecords } from '../analysis/records.ts'
import { askFor } from '../availability.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { Parts } from '../handlers/parts.ts'
import { logSets } from './log-sets.ts'
import { presentSets } from './present-sets.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import { replicationRows } from './replication-rows.ts'
import type { RowSet } from './row-set.ts'

/** The statement behind every set of rows that hosts tell. */
export const rowSets: Readonly<Record<Exclude<InsightRowSet, ReplicationRowSet>, RowSet>> = {
  ...logSets,
  ...presentSets,
}

/** Asks one host for one set of rows, and says with which statement. */
export const insightRows =
  (parts: Parts & WithReplicationService): Handlers<Service<typeof insightRowMethods>>['insightRows'] =>
  async ({ hostKey, set }, call) => {
    if (isReplicationRowSet(set)) return replicationRows(parts, { hostKey, set }, call)
    const { hosts, client } = parts
    const host = hosts.get(hostKey)
    const { requires, bare, sql: template } = rowSets[set]
    const { logs } = await client.capabilities(host, call)
    const sql = expandMacros(template, { window: undefined, zone: undefined, logs })
    const { told, unavailable } = await askFor(client, host, { requires }, call, async () =>
      readRecords(host, insightRowSets[set], await client.run(host, { what: `insights/${set}`, bare, sql }, call)),
    )
    return { rows: told ?? [], sql, unavailable }
  }
