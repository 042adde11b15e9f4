import { z } from 'zod'
import type { Handlers, Service } from '#proto/contract.ts'
import type { insightRowMethods } from '#proto/insight-rows.ts'
import { write } from '../actions/write.ts'
import { figure, readRecords } from '../analysis/records.ts'
import { unavailableBy } from '../availability.ts'
import type { Parts } from '../handlers/parts.ts'
import { findingsTable } from './findings-table.ts'

const Row = z.object({ old: figure })

/** Removes old insights from the host's own table, if there are any. */
export const pruneFindings =
  (parts: Parts): Handlers<Service<typeof insightRowMethods>>['pruneFindings'] =>
  async ({ hostKey, beforeMs }, call) => {
    const { client, env } = parts
    const host = parts.hosts.get(hostKey)
    const { full, quoted } = findingsTable(env)
    if ((await client.presence(host, full, call)) === 'missing') return { removed: 0 }
    const isOld = `found_at < fromUnixTimestamp64Milli(${beforeMs})`
    const counting = { what: 'insights/count', sql: `SELECT count() AS old FROM ${quoted} FINAL WHERE ${isOld}` }
    try {
      const [row] = readRecords(host, Row, await client.run(host, counting, call))
      if (!row?.old) return { removed: 0 }
      const removing = { what: 'insights/prune', sql: `DELETE FROM ${quoted} WHERE ${isOld}` }
      await write(parts, host, { ...removing, grant: `GRANT ALTER DELETE ON ${full}` }, call)
      return { removed: row.old }
    } catch (error) {
      if (unavailableBy(client, host, { requires: [full] }, error)?.reason === 'missing-table') return { removed: 0 }
      throw error
    }
  }
