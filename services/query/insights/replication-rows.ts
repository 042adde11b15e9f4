import { type Call, mayUse } from '#proto/call.ts'
import type { InsightRow, ReplicationRowSet } from '#proto/insight-rows.ts'
import type { Parts } from '../parts.ts'
import type { ReplicationService } from '../repldb/client.ts'
import { endpoints } from '../repldb/endpoints.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import { latestErrors, patternsOf } from '../repldb/log-patterns.ts'
import { overviewOf } from '../repldb/overview.ts'
import { allSlots, bytesPerMegabyte, slotGrowths } from '../repldb/slots.ts'

const hourMs = 3_600_000

/** What the replication service tells, with the first host of the list: it is none of them, and is to be told once. */
export const replicationRows = async (
  { hosts, replicationService, clock }: Parts & WithReplicationService,
  { hostKey, set }: { hostKey: string; set: ReplicationRowSet },
  call: Call,
) => {
  const isFirst = hosts.list()[0]?.key === hostKey
  const isTold = isFirst && replicationService.isConfigured() && mayUse(call.identity, 'REPLDB')
  const { from, rows } = sets[set]
  const told = isTold ? await rows(replicationService, call, clock.now()) : []
  return { rows: told, sql: `-- ${from} of the replication service`, unavailable: null }
}

/** What a set is made of, as evidence names it, and how. */
interface ReplicationSet<S extends ReplicationRowSet> {
  from: string
  rows(service: ReplicationService, call: Call, nowMs: number): Promise<InsightRow<S>[]>
}

const mirrorRows: ReplicationSet<'replication-mirrors'>['rows'] = async (service, call, nowMs) => {
  const [{ mirrors }, lines] = await Promise.all([overviewOf(service, call, nowMs), latestErrors(service, call, nowMs)])
  const linesOf = Map.groupBy(lines, ({ flowName }) => flowName)
  return Promise.all(
    mirrors.map(async ({ name, state, errorsLastHour }) => ({
      mirror: name,
      state,
      copyingHours: state === 'snapshot' ? await copyingHours(service, name, call, nowMs) : null,
      errorsLastHour,
      commonError: patternsOf(linesOf.get(name) ?? [])[0]?.pattern ?? '',
    })),
  )
}

const copyingHours = async (
  service: ReplicationService,
  name: string,
  call: Call,
  nowMs: number,
): Promise<number | null> => {
  const { tableSummaries } = await service.ask(endpoints.initialLoad, { name }, call)
  const begun = tableSummaries.flatMap(({ startTime }) => (startTime === null ? [] : Date.parse(startTime)))
  const first = Math.min(...begun)
  return Number.isFinite(first) ? (nowMs - first) / hourMs : null
}

const slotRows: ReplicationSet<'replication-slots'>['rows'] = async (service, call) => {
  const [slots, growths] = await Promise.all([allSlots(service, call), slotGrowths(service, call)])
  const growthOf = new Map(growths.map(({ slot, bytesPerHour }) => [slot, bytesPerHour]))
  return slots.map(({ peer, slotName, lagInMb }) => {
    const slot = `${peer}/${slotName}`
    return { slot, lagBytes: (lagInMb ?? 0) * bytesPerMegabyte, growthBytesPerHour: growthOf.get(slot) ?? null }
  })
}

const sets: { readonly [S in ReplicationRowSet]: ReplicationSet<S> } = {
  'replication-mirrors': { from: 'mirrors/list, mirrors/status and mirrors/logs', rows: mirrorRows },
  'replication-slots': { from: 'peers/slots and peers/slots/lag_history', rows: slotRows },
}
