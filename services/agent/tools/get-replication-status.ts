import { z } from 'zod'
import { count, select } from '#shared/tools/select.ts'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost, readTool, told } from '../read-tool.ts'

const longestException = 500
const flag = z.coerce.boolean()

const Replica = z.object({
  database: z.string(),
  table: z.string(),
  replica: z.string(),
  isReadonly: flag,
  isSessionExpired: flag,
  delaySeconds: count,
  queueSize: count,
  insertsInQueue: count,
  mergesInQueue: count,
  lostParts: count,
  exception: z.string(),
})
const Entry = z.object({
  database: z.string(),
  table: z.string(),
  type: z.string(),
  part: z.string(),
  ageSeconds: count,
  tries: count,
  postponed: count,
  exception: z.string(),
})

/** Only columns that the server knows without asking Keeper. */
const replicasSql = `
SELECT database, table, replica_name AS replica, is_readonly AS isReadonly, is_session_expired AS isSessionExpired,
  absolute_delay AS delaySeconds, queue_size AS queueSize, inserts_in_queue AS insertsInQueue,
  merges_in_queue AS mergesInQueue, lost_part_count AS lostParts,
  leftUTF8(if(last_queue_update_exception != '', last_queue_update_exception, zookeeper_exception), ${longestException}) AS exception
FROM system.replicas
ORDER BY isReadonly DESC, isSessionExpired DESC, delaySeconds DESC, queueSize DESC`

const queueSql = `
SELECT database, table, type, new_part_name AS part, toUInt64(greatest(0, dateDiff('second', create_time, now()))) AS ageSeconds,
  num_tries AS tries, num_postponed AS postponed, leftUTF8(last_exception, ${longestException}) AS exception
FROM system.replication_queue
WHERE last_exception != ''
ORDER BY tries DESC, ageSeconds DESC`

export const getReplicationStatus = readTool({
  name: 'get_replication_status',
  title: 'Replication',
  description:
    'Replicated tables, those in trouble first: read-only, lost session, delay, queue; and the entries of the queue that fail.',
  feature: 'CLUSTER',
  core: true,
  input: z.strictObject({ ...ofHost, limit: limitOf(20, 200) }),
  async run({ hostId, limit }, asking) {
    const host = await hostAt(asking, hostId)
    const [replicas, failing] = await Promise.all([
      select(asking, host, { sql: replicasSql, maxRows: limit }, Replica),
      select(asking, host, { sql: queueSql, maxRows: limit }, Entry),
    ])
    const readonly = replicas.filter(({ isReadonly }) => isReadonly).length
    const text =
      replicas.length === 0
        ? `${host.name} has no replicated table.`
        : `Of the ${replicas.length} told, ${readonly} are read-only; ${failing.length} entries of the queue fail.`
    return told(text, { replicas, failing })
  },
})
