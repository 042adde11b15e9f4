import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { ClusterMember } from '#proto/topology.ts'
import { figure, readRecords } from '../analysis/records.ts'
import { askFor } from '../clickhouse/availability.ts'
import { askEach } from '../hosts/ask-each.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Parts } from '../parts.ts'

const exceptionCharacters = 500
const needs = { requires: ['system.replicas'] }

/** Only columns that the server knows without asking Keeper. */
export const replicationStatement: Statement = {
  what: 'topology',
  cache: 'realtime',
  sql: `SELECT
  count() AS tables,
  countIf(is_readonly) AS readonly,
  countIf(is_session_expired) AS sessionsExpired,
  max(absolute_delay) AS maxDelaySeconds,
  sum(queue_size) AS queueSize,
  sum(lost_part_count) AS lostParts,
  substringUTF8(anyIf(last_queue_update_exception, last_queue_update_exception != ''), 1, ${exceptionCharacters}) AS exception
FROM system.replicas`,
}

export const ReplicationRow = z.object({
  tables: figure,
  readonly: figure,
  sessionsExpired: figure,
  maxDelaySeconds: figure,
  queueSize: figure,
  lostParts: figure,
  exception: z.string(),
})

/** State, load and replication of hosts of the list. */
export const readMembers = async (parts: Parts, keys: readonly string[], call: Call): Promise<ClusterMember[]> => {
  const { client, probe } = parts
  const answers = await askEach(parts, keys, call, (host, own) =>
    askFor(client, host, needs, own, async () =>
      readRecords(host, ReplicationRow, await client.run(host, replicationStatement, own)),
    ),
  )
  return answers.map(({ host, asked, answer }) => {
    const { state, load } = probe.known(host.key)
    const { status, version } = state
    const replication = answer?.told?.[0] ?? null
    return { ...asked, status, version, load, replication, unavailable: answer?.unavailable ?? null }
  })
}
