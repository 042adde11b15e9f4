import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { statfsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import type { ClusterServer } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'
import { addDisk, removeDisk } from '../small-disks.ts'

/** Age from which the fault of `backup-old` fires, in seconds. */
const oldBackupSeconds = 20
/** Statements of the fault of `system-log-size`, and the random text in each of them. */
const loggedStatements = 400
const loggedBytes = 250_000

/** Returns the share of the local disks, in percent. The disks `default` and `backups` are on the same file system. */
const shareOfDisks = (bytes: number): number => {
  const { blocks, bsize } = statfsSync(tmpdir())
  return (100 * bytes) / (2 * blocks * bsize)
}

/** Faults for the rules in `charts/storage`. */
export const storageFaults: readonly Fault[] = [
  {
    rule: 'disk-usage',
    host: 's1r1',
    // `inode-or-write-errors` fills a disk of this server.
    mayAffect: ['s2r1'],
    severity: 'critical',
    value: [91, 95],
    async prepare({ servers: { s1r1 } }) {
      await addDisk(s1r1, 'fault_disk_usage', 32)
      await s1r1.run(
        'CREATE DATABASE fault_disk_usage',
        // Merges would need space that this disk does not have.
        `CREATE TABLE fault_disk_usage.events (value String) ENGINE = MergeTree ORDER BY tuple()
         SETTINGS disk = 'fault_disk_usage', max_bytes_to_merge_at_max_space_in_pool = 1`,
      )
    },
    async produce({ servers: { s1r1 } }) {
      // 30 parts of 1 MB. With a larger part, the disk would also be too small for its next merge, another condition.
      for (let part = 0; part < 30; part++)
        await s1r1.run('INSERT INTO fault_disk_usage.events SELECT randomString(1000) FROM numbers(1000)')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('TRUNCATE TABLE fault_disk_usage.events SYNC')
    },
    async cleanUp({ servers: { s1r1 } }) {
      await removeDisk(s1r1, 'fault_disk_usage')
    },
  },
  {
    rule: 'disk-unreserved-vs-largest-part',
    host: 's1r2',
    severity: 'critical',
    // 20 MB of the disk of 32 MiB are used.
    value: [0.6, 0.7],
    async prepare({ servers: { s1r2 } }) {
      await addDisk(s1r2, 'fault_disk_unreserved', 32)
      await s1r2.run(
        'CREATE DATABASE fault_disk_unreserved',
        `CREATE TABLE fault_disk_unreserved.events (value String) ENGINE = MergeTree ORDER BY tuple()
         SETTINGS disk = 'fault_disk_unreserved'`,
      )
    },
    async produce({ servers: { s1r2 } }) {
      await s1r2.run('INSERT INTO fault_disk_unreserved.events SELECT randomString(1000) FROM numbers(20000)')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('TRUNCATE TABLE fault_disk_unreserved.events SYNC')
    },
    async cleanUp({ servers: { s1r2 } }) {
      await removeDisk(s1r2, 'fault_disk_unreserved')
    },
  },
  {
    rule: 'failed-backups',
    host: 's2r2',
    severity: 'critical',
    value: [3, 3],
    async produce({ servers: { s2r2 } }) {
      await s2r2.run(
        'CREATE DATABASE fault_failed_backups',
        'CREATE TABLE fault_failed_backups.events (id UInt64) ENGINE = MergeTree ORDER BY id',
      )
      await s2r2.fail("BACKUP TABLE fault_failed_backups.events TO Disk('default', 'events')")
      await s2r2.fail("BACKUP TABLE fault_failed_backups.missing TO Disk('backups', 'missing')")
      await s2r2.fail("RESTORE TABLE fault_failed_backups.events FROM Disk('backups', 'no-backup')")
      await s2r2.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run("DELETE FROM system.backup_log WHERE status IN ('BACKUP_FAILED', 'RESTORE_FAILED')")
    },
  },
  {
    rule: 'backup-old',
    host: 's2r2',
    severity: 'warning',
    value: [oldBackupSeconds, oldBackupSeconds + 60],
    thresholds: { warning: oldBackupSeconds },
    visibleAfterMs: oldBackupSeconds * 1_000,
    async prepare({ servers: { s2r2 } }) {
      await s2r2.run(
        'CREATE DATABASE fault_backup_old',
        'CREATE TABLE fault_backup_old.events (id UInt64) ENGINE = MergeTree ORDER BY id',
      )
    },
    async produce({ servers: { s2r2 } }) {
      await backUp(s2r2, 'first')
    },
    async recover({ servers: { s2r2 } }) {
      await backUp(s2r2, 'second')
    },
    async cleanUp({ servers: { s2r2 } }) {
      await s2r2.run('TRUNCATE TABLE system.backup_log')
    },
  },
  {
    rule: 'inode-or-write-errors',
    host: 's2r1',
    severity: 'critical',
    value: [5, 100],
    async prepare({ servers: { s2r1 } }) {
      await addDisk(s2r1, 'fault_write_errors', 1)
      await s2r1.run(
        'CREATE DATABASE fault_write_errors',
        // This engine reserves no space before it writes. It does not report the failed writes to the client either.
        "CREATE TABLE fault_write_errors.events (value String) ENGINE = Log SETTINGS disk = 'fault_write_errors'",
      )
    },
    async produce({ servers: { s2r1 } }) {
      await s2r1.run('INSERT INTO fault_write_errors.events SELECT randomString(1000) FROM numbers(20000)')
    },
    recover: async () => {},
    async cleanUp({ servers: { s2r1 } }) {
      await removeDisk(s2r1, 'fault_write_errors')
    },
  },
  {
    rule: 's3-errors',
    host: 's1r2',
    severity: 'critical',
    value: [50, 50],
    async produce({ servers: { s1r2 } }) {
      await using storage = await startObjectStorage()
      for (let run = 0; run < 20; run++) {
        await s1r2.run(readObject(`${storage.url}/fleet/good.tsv`))
        await s1r2.fail(readObject(`${storage.url}/fleet/broken.tsv`))
      }
      await s1r2.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('DELETE FROM system.metric_log WHERE ProfileEvent_S3ReadRequestsCount > 0')
    },
  },
  {
    rule: 'slow-reads',
    host: 's2r1',
    severity: 'warning',
    value: [3, 19],
    async prepare({ servers: { s2r1 } }) {
      await s2r1.run(
        'CREATE DATABASE fault_slow_reads',
        'CREATE TABLE fault_slow_reads.events (value String CODEC(NONE)) ENGINE = MergeTree ORDER BY tuple()',
        'INSERT INTO fault_slow_reads.events SELECT randomString(1000) FROM numbers(200000)',
      )
    },
    async produce({ servers: { s2r1 } }) {
      // A read is slow from one millisecond on, at any throughput.
      for (let run = 0; run < 3; run++)
        await s2r1.run(
          `SELECT count() FROM fault_slow_reads.events WHERE NOT ignore(value)
           SETTINGS max_threads = 2, local_filesystem_read_method = 'pread', max_read_buffer_size = 16777216,
             read_backoff_min_latency_ms = 1, read_backoff_max_throughput = 1000000000000,
             read_backoff_min_interval_between_events_ms = 0`,
        )
    },
    recover: async () => {},
  },
  {
    rule: 'system-log-size',
    host: 's2r2',
    severity: 'warning',
    value: [shareOfDisks(1.5 * loggedStatements * loggedBytes), shareOfDisks(4 * loggedStatements * loggedBytes)],
    thresholds: { warning: shareOfDisks(1.5 * loggedStatements * loggedBytes) },
    async prepare({ servers: { s2r2 } }) {
      // A merge would keep its source parts for minutes, also after the table is truncated.
      await s2r2.run('SYSTEM STOP MERGES system.query_thread_log')
    },
    async produce({ servers: { s2r2 } }) {
      // The log of threads contains the statement for each thread. Only this log, because rules read the query log.
      for (let run = 0; run < loggedStatements; run++)
        await s2r2.run(
          `SELECT length('${randomBytes((loggedBytes * 3) / 4).toString('base64')}')
           SETTINGS log_query_threads = 1, log_queries_min_type = 'EXCEPTION_WHILE_PROCESSING', log_queries_cut_to_length = 1000000`,
        )
      await s2r2.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run('TRUNCATE TABLE system.query_thread_log')
    },
    async cleanUp({ servers: { s2r2 } }) {
      await s2r2.run('SYSTEM START MERGES system.query_thread_log')
    },
  },
]

export const storageRecorded: RecordedRules = {
  'disk-days-to-full': 'needs disk samples of four days in the state of the product',
}

const backUp = async (server: ClusterServer, name: string): Promise<void> =>
  server.run(`BACKUP TABLE fault_backup_old.events TO Disk('backups', '${name}')`, 'SYSTEM FLUSH LOGS')

const readObject = (url: string): string =>
  `SELECT * FROM s3('${url}', NOSIGN, 'TSV', 'value String') SETTINGS s3_retry_attempts = 0, s3_max_single_read_retries = 1`

/** Starts an object storage that returns an error for objects named `broken`. */
const startObjectStorage = async (): Promise<AsyncDisposable & { url: string }> => {
  const server = createServer(({ url = '', method }, response) => {
    const isBroken = url.includes('broken')
    const body = isBroken ? '' : 'value\n'
    response.writeHead(isBroken ? 503 : 200, { 'content-length': body.length, etag: '"fault"' })
    response.end(method === 'HEAD' ? undefined : body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // a TCP server has this type of address
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
