import type { Handlers, Service } from '#proto/contract.ts'
import type { Insight } from '#proto/insights.ts'
import type { insightRowMethods } from '#proto/insight-rows.ts'
import { writeInto } from '../actions/write-into.ts'
import type { Parts } from '../handlers/parts.ts'
import { createTable, findingsTable } from './findings-table.ts'

const writesWithinSeconds = 10

/** Writes insights into the host's own table, which is created the first time. */
export const keepFindings =
  (parts: Parts): Handlers<Service<typeof insightRowMethods>>['keepFindings'] =>
  async ({ hostKey, insights, version }, call) => {
    if (insights.length === 0) return { kept: 0 }
    const host = parts.hosts.get(hostKey)
    const { full, quoted } = findingsTable(parts.env)
    const limits = { maxSeconds: writesWithinSeconds, grant: `GRANT CREATE TABLE, SELECT, INSERT ON ${full}` }
    const rows = insights.map((insight) => JSON.stringify(rowOf(insight, version)))
    const inserting = {
      ...limits,
      what: 'insights/keep',
      sql: `INSERT INTO ${quoted} FORMAT JSONEachRow\n${rows.join('\n')}`,
    }
    const creating = { ...limits, what: 'insights/create', sql: createTable(quoted) }
    await writeInto(parts, host, { table: full, creating, inserting }, call)
    return { kept: insights.length }
  }

const rowOf = (insight: Insight, version: number) => {
  const { id, hostKey, kind, subject, day, severity, foundAtMs, dismissed } = insight
  const found_at = new Date(foundAtMs).toISOString().slice(0, -1).replace('T', ' ')
  const columns = { id, host: hostKey, kind, subject, day, severity, found_at, dismissed: dismissed ? 1 : 0 }
  return { ...columns, insight: JSON.stringify(insight), version }
}
