import { z } from 'zod'
import { type CallContext, mayUseFeature } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import {
  type insightRowMethods,
  type InsightRowSet,
  insightRowSets,
  isReplicationRowSet,
  type ReplicationRowSet,
  type InsightRow,
} from '#proto/insight-rows.ts'
import { type Insight, StoredInsight } from '#proto/insights.ts'
import { parseJson } from '#shared/text/strings.ts'
import { insertIntoOwnTable, runWrite } from '../actions/write.ts'
import { readRecords, hostNumberSchema } from '../analysis/read-records.ts'
import { queryIfAvailable, findUnavailableReason } from '../clickhouse/availability.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { addInsightHistory } from '../history/insight-history.ts'
import type { ReplicationServiceClient } from '../repldb/client.ts'
import { replicationEndpoints } from '../repldb/endpoints.ts'
import type { ReplicationServiceDeps } from '../repldb/handlers.ts'
import { fetchLatestLogErrors, groupLogLines } from '../repldb/log-patterns.ts'
import { readMirrorOverview } from '../repldb/overview.ts'
import { fetchSlots, bytesPerMebibyte, fetchSlotLagGrowth } from '../repldb/slots.ts'
import { createFindingsTableSql, resolveFindingsTable } from './findings-table.ts'
import { logRowSets, type InsightStatement, currentStateRowSets } from './row-sets.ts'

const hourMs = 3_600_000

/** Returns the rows of the replication service for the first host only, so that they are reported once. */
const replicationRows = async (
  { hosts, replicationService, clock }: QueryHandlerDeps & ReplicationServiceDeps,
  { hostKey, set }: { hostKey: string; set: ReplicationRowSet },
  call: CallContext,
) => {
  const isFirst = hosts.list()[0]?.key === hostKey
  const isReported = isFirst && replicationService.isConfigured() && mayUseFeature(call.identity, 'REPLDB')
  const { from, rows } = sets[set]
  const reported = isReported ? await rows(replicationService, call, clock.now()) : []
  return { rows: reported, sql: `-- ${from} of the replication service`, unavailable: null, incomplete: null }
}

/** A row set of the replication service: its source endpoints, and the function that reads its rows. */
interface ReplicationSet<S extends ReplicationRowSet> {
  from: string
  rows(service: ReplicationServiceClient, call: CallContext, nowMs: number): Promise<InsightRow<S>[]>
}

const mirrorRows: ReplicationSet<'replication-mirrors'>['rows'] = async (service, call, nowMs) => {
  const [{ mirrors }, lines] = await Promise.all([
    readMirrorOverview(service, call, nowMs),
    fetchLatestLogErrors(service, call, nowMs),
  ])
  const linesOf = Map.groupBy(lines, ({ flowName }) => flowName)
  return Promise.all(
    mirrors.map(async ({ name, state, errorsLastHour }) => ({
      mirror: name,
      state,
      copyingHours: state === 'snapshot' ? await copyingHours(service, name, call, nowMs) : null,
      errorsLastHour,
      commonError: groupLogLines(linesOf.get(name) ?? [])[0]?.pattern ?? '',
    })),
  )
}

const copyingHours = async (
  service: ReplicationServiceClient,
  name: string,
  call: CallContext,
  nowMs: number,
): Promise<number | null> => {
  const { tableSummaries } = await service.callApi(replicationEndpoints.initialLoad, { name }, call)
  const started = tableSummaries.flatMap(({ startTime }) => (startTime === null ? [] : Date.parse(startTime)))
  const first = Math.min(...started)
  return Number.isFinite(first) ? (nowMs - first) / hourMs : null
}

const slotRows: ReplicationSet<'replication-slots'>['rows'] = async (service, call) => {
  const [slots, growths] = await Promise.all([fetchSlots(service, call), fetchSlotLagGrowth(service, call)])
  const growthOf = new Map(growths.map(({ slot, bytesPerHour }) => [slot, bytesPerHour]))
  return slots.map(({ peer, slotName, lagInMb }) => {
    const slot = `${peer}/${slotName}`
    return { slot, lagBytes: (lagInMb ?? 0) * bytesPerMebibyte, growthBytesPerHour: growthOf.get(slot) ?? null }
  })
}

const sets: { readonly [S in ReplicationRowSet]: ReplicationSet<S> } = {
  'replication-mirrors': { from: 'mirrors/list, mirrors/status and mirrors/logs', rows: mirrorRows },
  'replication-slots': { from: 'peers/slots and peers/slots/lag_history', rows: slotRows },
}

const Row = z.object({ old: hostNumberSchema })

/** Returns the handler that deletes the insights found before `beforeMs` from the table of the host. */
const pruneFindings =
  (parts: QueryHandlerDeps): ServiceHandlers<Service<typeof insightRowMethods>>['pruneFindings'] =>
  async ({ hostKey, beforeMs }, call) => {
    const { client, env } = parts
    const host = parts.hosts.get(hostKey)
    const { full, quoted } = resolveFindingsTable(env)
    if ((await client.presence(host, full, call)) === 'missing') return { removed: 0 }
    const isOld = `found_at < fromUnixTimestamp64Milli(${beforeMs})`
    const counting = { what: 'insights/count', sql: `SELECT count() AS old FROM ${quoted} FINAL WHERE ${isOld}` }
    try {
      const [row] = readRecords(host, Row, await client.run(host, counting, call))
      if (!row?.old) return { removed: 0 }
      const removing = { what: 'insights/prune', sql: `DELETE FROM ${quoted} WHERE ${isOld}` }
      await runWrite(parts, host, { ...removing, grant: `GRANT ALTER DELETE ON ${full}` }, call)
      return { removed: row.old }
    } catch (error) {
      if (findUnavailableReason(client, host, { requires: [full] }, error)?.reason === 'missing-table')
        return { removed: 0 }
      throw error
    }
  }

const writesWithinSeconds = 10

/** Returns the handler that inserts insights into the table of the host and creates the table if necessary. */
const keepFindings =
  (parts: QueryHandlerDeps): ServiceHandlers<Service<typeof insightRowMethods>>['keepFindings'] =>
  async ({ hostKey, insights, version }, call) => {
    if (insights.length === 0) return { kept: 0 }
    const host = parts.hosts.get(hostKey)
    const { full, quoted } = resolveFindingsTable(parts.env)
    const limits = { maxSeconds: writesWithinSeconds, grant: `GRANT CREATE TABLE, SELECT, INSERT ON ${full}` }
    const rows = insights.map((insight) => JSON.stringify(rowOf(insight, version)))
    const inserting = {
      ...limits,
      what: 'insights/keep',
      sql: `INSERT INTO ${quoted} FORMAT JSONEachRow\n${rows.join('\n')}`,
    }
    const creating = { ...limits, what: 'insights/create', sql: createFindingsTableSql(quoted) }
    await insertIntoOwnTable(parts, host, { table: full, creating, inserting }, call)
    return { kept: insights.length }
  }

const rowOf = (insight: Insight, version: number) => {
  const { id, hostKey, kind, subject, day, severity, foundAtMs, dismissed } = insight
  const found_at = new Date(foundAtMs).toISOString().slice(0, -1).replace('T', ' ')
  const columns = { id, host: hostKey, kind, subject, day, severity, found_at, dismissed: dismissed ? 1 : 0 }
  return { ...columns, insight: JSON.stringify(insight), version }
}

/** The statement of each row set. */
export const insightStatements: Readonly<Record<Exclude<InsightRowSet, ReplicationRowSet>, InsightStatement>> = {
  ...logRowSets,
  ...currentStateRowSets,
}

/** Returns the handler that reads a row set of one host. */
const insightRows =
  (
    parts: QueryHandlerDeps & ReplicationServiceDeps,
  ): ServiceHandlers<Service<typeof insightRowMethods>>['insightRows'] =>
  async ({ hostKey, set }, call) => {
    if (isReplicationRowSet(set)) return replicationRows(parts, { hostKey, set }, call)
    const { hosts, client } = parts
    const host = hosts.get(hostKey)
    const { requires, bare, sql: template } = insightStatements[set]
    const { logs } = await client.capabilities(host, call)
    const sql = expandMacros(template, { window: undefined, zone: undefined, logs })
    const { data, unavailable, incomplete } = await queryIfAvailable(client, host, { requires }, call, async () =>
      readRecords(host, insightRowSets[set], await client.run(host, { what: `insights/${set}`, bare, sql }, call)),
    )
    const rows = data && (await addInsightHistory({ parts, host, call }, set, data))
    return { rows: rows ?? [], sql, unavailable, incomplete }
  }

type InsightHandlers = ServiceHandlers<Service<typeof insightRowMethods>>

/** Returns the handlers that query the input rows of insights, and that read, store and prune findings on hosts. */
export const createInsightHandlers = (parts: QueryHandlerDeps & ReplicationServiceDeps): InsightHandlers => ({
  insightRows: insightRows(parts),
  storedFindings: storedFindings(parts),
  keepFindings: keepFindings(parts),
  pruneFindings: pruneFindings(parts),
})

/** A stored insight; null when another release wrote it in a format that this one cannot read. */
const StoredRow = z.object({
  insight: z.string().transform((text): Insight | null => {
    const read = StoredInsight.safeParse(parseJson(text))
    return read.success ? read.data : null
  }),
})

/** Returns the handler that reads the stored insights of a host. Without the table, the result is empty. */
const storedFindings =
  ({ hosts, client, env }: QueryHandlerDeps): ServiceHandlers<Service<typeof insightRowMethods>>['storedFindings'] =>
  async ({ hostKey, sinceMs, limit, ids }, call) => {
    const host = hosts.get(hostKey)
    const { full, quoted } = resolveFindingsTable(env)
    if ((await client.presence(host, full, call)) === 'missing') return []
    const sql = `SELECT insight FROM ${quoted} FINAL
WHERE host = {host:String} AND found_at >= fromUnixTimestamp64Milli({sinceMs:Int64})${ids ? ' AND id IN {ids:Array(String)}' : ''}
ORDER BY found_at DESC, id
LIMIT ${limit}`
    const parameters = { host: hostKey, sinceMs, ...(ids && { ids }) }
    try {
      const answer = await client.run(host, { what: 'insights/stored', sql, parameters }, call)
      return readRecords(host, StoredRow, answer).flatMap(({ insight }) => insight ?? [])
    } catch (error) {
      if (findUnavailableReason(client, host, { requires: [full] }, error)?.reason === 'missing-table') return []
      throw error
    }
  }
