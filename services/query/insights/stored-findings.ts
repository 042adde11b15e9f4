import { z } from 'zod'
import type { Handlers, Service } from '#proto/contract.ts'
import type { insightRowMethods } from '#proto/insight-rows.ts'
import { type Insight, StoredInsight } from '#proto/insights.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { readRecords } from '../analysis/records.ts'
import { unavailableBy } from '../clickhouse/availability.ts'
import type { Parts } from '../parts.ts'
import { findingsTable } from './findings-table.ts'

/** What a row holds; null for one that a release wrote whose insights this one cannot read. */
const Row = z.object({
  insight: z.string().transform((text): Insight | null => {
    const read = StoredInsight.safeParse(parseJson(text))
    return read.success ? read.data : null
  }),
})

/** Insights as a host keeps them; nothing while it has no such table. */
export const storedFindings =
  ({ hosts, client, env }: Parts): Handlers<Service<typeof insightRowMethods>>['storedFindings'] =>
  async ({ hostKey, sinceMs, limit, ids }, call) => {
    const host = hosts.get(hostKey)
    const { full, quoted } = findingsTable(env)
    if ((await client.presence(host, full, call)) === 'missing') return []
    const sql = `SELECT insight FROM ${quoted} FINAL
WHERE host = {host:String} AND found_at >= fromUnixTimestamp64Milli({sinceMs:Int64})${ids ? ' AND id IN {ids:Array(String)}' : ''}
ORDER BY found_at DESC, id
LIMIT ${limit}`
    const parameters = { host: hostKey, sinceMs, ...(ids && { ids: `[${ids.map((id) => `'${id}'`).join(',')}]` }) }
    try {
      const answer = await client.run(host, { what: 'insights/stored', sql, parameters }, call)
      return readRecords(host, Row, answer).flatMap(({ insight }) => insight ?? [])
    } catch (error) {
      if (unavailableBy(client, host, { requires: [full] }, error)?.reason === 'missing-table') return []
      throw error
    }
  }
