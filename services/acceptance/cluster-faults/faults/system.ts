import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rename, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { availableParallelism, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../../testing/fetch-json.ts'
import { type ClusterServer, serverNames } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'

const connections = 450
/** The open connections of the fault `connections`. */
const sockets: Socket[] = []

const filledBytes = 2e9
/** The percentage of the memory of the machine that `fillMemory` occupies. */
const filledPct = (100 * filledBytes) / totalmem()
/** The load per core up to which the fault `load-per-core` raises the five-minute average. */
const loadPerCore = 11

/** Faults for the rules in `charts/system`. */
export const systemFaults: readonly Fault[] = [
  {
    rule: 'connections',
    host: 's1r2',
    severity: 'warning',
    // Besides the connections of the fault, the server has those of the product and of the other servers.
    value: [connections, connections + 40],
    async produce({ servers: { s1r2 } }) {
      for (let index = 0; index < connections; index++) {
        const socket = connect(s1r2.nativePort, '127.0.0.1')
        socket.on('error', () => undefined)
        sockets.push(socket)
      }
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    },
    async recover() {
      for (const socket of sockets.splice(0)) socket.destroy()
    },
  },
  {
    rule: 'cpu-wait-pct',
    // Other faults use the CPU too, so the condition would not end.
    alone: true,
    host: 's1r1',
    // The queries take the CPUs of the machine, on which the other servers run too.
    mayAffect: serverNames,
    severity: 'critical',
    value: [80, 99],
    async produce({ servers: { s1r1 } }) {
      const query =
        "SELECT sum(cityHash64(number)) FROM numbers_mt(1000000000000) SETTINGS max_threads = 16, max_execution_time = 5, timeout_overflow_mode = 'break'"
      await Promise.all(Array.from({ length: 4 }, () => s1r1.run(query)))
    },
    async recover({ servers: { s1r1 } }) {
      // A thread reports its wait when it runs again, so the next samples still have waits of the queries.
      await wait(3_000)
      // Otherwise the samples in memory are written after the truncation.
      await s1r1.run('SYSTEM FLUSH LOGS', 'TRUNCATE TABLE system.metric_log')
    },
  },
  {
    rule: 'dns-or-network-errors',
    host: 's2r2',
    severity: 'warning',
    // The name is resolved four times, and each of four statements fails.
    value: [8, 10],
    async produce({ servers: { s2r2 } }) {
      await s2r2.fail("SELECT * FROM remote('no-such-host.invalid', system.one)")
      // Nothing listens on port 1.
      for (let run = 0; run < 3; run++) await s2r2.fail("SELECT * FROM remote('127.0.0.1:1', system.one)")
      // Otherwise the server repeats the resolution of the name in the background.
      await s2r2.run('SYSTEM DROP DNS CACHE')
    },
    recover: async () => {},
  },
  {
    rule: 'load-per-core',
    host: 's1r2',
    // The load is that of the machine, on which all servers run.
    mayAffect: serverNames,
    severity: 'critical',
    // Earlier faults may have raised the average further.
    value: [loadPerCore * 0.9, loadPerCore * 6],
    produce: () => raiseLoad(loadPerCore),
    recover: async () => {},
    keepsFiring: 'the five-minute average falls for minutes',
  },
  {
    rule: 'memory-pressure',
    host: 's2r1',
    // The fault `memory-tracking-pct` fills the memory of this server.
    mayAffect: ['s2r2'],
    severity: 'warning',
    value: [filledPct, 2 * filledPct],
    thresholds: { warning: filledPct },
    produce: ({ servers: { s2r1 } }) => fillMemory(s2r1, 'fault_memory_pressure'),
    recover: ({ servers: { s2r1 } }) => releaseMemory(s2r1, 'fault_memory_pressure'),
  },
  {
    rule: 'memory-tracking-pct',
    host: 's2r2',
    severity: 'warning',
    value: [85, 95],
    async produce({ servers: { s2r2 } }) {
      await fillMemory(s2r2, 'fault_memory_tracking_pct')
      const [row] = await s2r2.query("SELECT value FROM system.metrics WHERE metric = 'MemoryTracking'")
      const limit = Math.round(Number(row?.value) / 0.9)
      await s2r2.configure(
        'config.d/memory-limit.xml',
        `<clickhouse><max_server_memory_usage>${limit}</max_server_memory_usage></clickhouse>`,
      )
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.configure('config.d/memory-limit.xml', undefined)
      await releaseMemory(s2r2, 'fault_memory_tracking_pct')
    },
  },
  {
    rule: 'rwlock-wait',
    host: 's1r2',
    severity: 'warning',
    // TRUNCATE waits for the running SELECT, and two later ones wait behind it.
    value: [3, 3],
    async prepare({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_rwlock_wait',
        // TRUNCATE locks only tables of other engines than MergeTree.
        'CREATE TABLE fault_rwlock_wait.events (id UInt64) ENGINE = Memory',
        'INSERT INTO fault_rwlock_wait.events SELECT number FROM numbers(1000)',
      )
    },
    async produce({ servers: { s1r2 } }) {
      // Not awaited: the query runs until it is killed, and the other statements wait for it.
      void s1r2.fail(
        "SELECT sum(sleepEachRow(0.1)) FROM fault_rwlock_wait.events SETTINGS max_block_size = 1, log_comment = 'fault: rwlock-wait', function_sleep_max_microseconds_per_block = 1000000000",
      )
      await wait(500)
      void s1r2.run('TRUNCATE TABLE fault_rwlock_wait.events')
      await wait(500)
      for (let run = 0; run < 2; run++) void s1r2.run('SELECT count(id) FROM fault_rwlock_wait.events')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run("KILL QUERY WHERE Settings['log_comment'] = 'fault: rwlock-wait' SYNC")
    },
  },
  {
    rule: 'server-warnings',
    host: 's1r1',
    severity: 'warning',
    value: [1, 1],
    async produce({ servers: { s1r1 } }) {
      await s1r1.configure(
        'config.d/warnings.xml',
        '<clickhouse><max_database_num_to_warn>1</max_database_num_to_warn></clickhouse>',
      )
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.configure('config.d/warnings.xml', undefined)
    },
  },
  {
    rule: 'settings-changed',
    host: 's2r1',
    severity: 'warning',
    value: [1, 1],
    async produce({ servers: { s2r1 } }) {
      await s2r1.configure(
        'users.d/limit.xml',
        '<clickhouse><profiles><watch><max_insert_threads>2</max_insert_threads></watch></profiles></clickhouse>',
      )
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.configure('users.d/limit.xml', undefined)
    },
    keepsFiring: 'reported for an hour',
  },
  {
    rule: 'io-wait-pct',
    host: 's1r1',
    // The share is that of the CPUs of the machine, on which all servers run.
    mayAffect: serverNames,
    severity: 'warning',
    value: [20, 100],
    // The share cannot exceed that of the idle time, which depends on the machine. So only one severity is expected.
    thresholds: { warning: 20, critical: 101 },
    // Time in which a CPU is busy does not count as waiting.
    alone: true,
    visibleAfterMs: 4_000,
    async prepare({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_io_wait_pct',
        'CREATE TABLE fault_io_wait_pct.events (value String CODEC(NONE)) ENGINE = MergeTree ORDER BY tuple() SETTINGS min_compress_block_size = 65536, max_compress_block_size = 65536',
        'INSERT INTO fault_io_wait_pct.events SELECT randomString(1000) FROM numbers(500000)',
      )
    },
    async produce({ servers: { s1r1 } }) {
      // Reads without the page cache. Not awaited: the query runs until it is killed.
      const all = Array.from({ length: 200 }, () => 'SELECT * FROM fault_io_wait_pct.events').join(' UNION ALL ')
      void s1r1.fail(
        `SELECT count() FROM (${all}) WHERE NOT ignore(value) SETTINGS min_bytes_to_use_direct_io = 1, local_filesystem_read_method = 'pread', max_threads = 4, log_comment = 'fault: io-wait-pct'`,
      )
      await wait(500)
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run("KILL QUERY WHERE Settings['log_comment'] = 'fault: io-wait-pct' SYNC")
    },
  },
  {
    rule: 'restarted',
    host: 's2r2',
    // Earlier faults may have restarted these servers within ten minutes.
    mayAffect: serverNames,
    severity: 'warning',
    value: [1, 1],
    alone: true,
    async produce({ servers: { s2r2 } }) {
      await s2r2.restart()
    },
    recover: async () => {},
    keepsFiring: 'reported for ten minutes after the start',
  },
  {
    rule: 'crash-recorded',
    host: 's1r2',
    severity: 'critical',
    value: [1, 1],
    alone: true,
    async produce({ servers: { s1r2 } }) {
      await s1r2.signal('SIGSEGV')
      // The server writes the crash to its log before it ends. A restart meanwhile would kill it.
      await waitUntilDown(s1r2)
      await s1r2.restart()
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('TRUNCATE TABLE system.crash_log')
    },
  },
  {
    rule: 'version-changed',
    host: 's2r1',
    severity: 'warning',
    value: [1, 1],
    alone: true,
    async produce({ servers: { s2r1 } }) {
      await s2r1.kill()
      // An older version cannot read the data of a newer one, so it starts without data.
      await rename(join(s2r1.directory, 'data'), join(s2r1.directory, 'data-kept'))
      s2r1.version = '24.8'
      await s2r1.restart()
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.kill()
      await rm(join(s2r1.directory, 'data'), { recursive: true })
      await rename(join(s2r1.directory, 'data-kept'), join(s2r1.directory, 'data'))
      s2r1.version = '25.8'
      await s2r1.restart()
    },
    keepsFiring: 'reported for an hour',
  },
]

export const systemRecorded: RecordedRules = {}

/** Creates a database with a table that occupies 2 GB of memory. */
const fillMemory = async (server: ClusterServer, database: string): Promise<void> => {
  await server.run(
    `CREATE DATABASE ${database}`,
    `CREATE TABLE ${database}.events (value String) ENGINE = Memory`,
    // Blocks of 16 MB, so that the insert needs little memory of its own.
    `INSERT INTO ${database}.events SELECT randomString(1000000) FROM numbers(${filledBytes / 1e6}) SETTINGS max_block_size = 16, min_insert_block_size_bytes = 16000000`,
  )
}

const releaseMemory = async (server: ClusterServer, database: string): Promise<void> => {
  await server.run(`DROP DATABASE ${database} SYNC`, 'SYSTEM JEMALLOC PURGE')
}

/**
 * Raises the five-minute load average per core to at least this value. The processes have the lowest priority: they
 * count as load, but take no time from the servers.
 */
const raiseLoad = async (target: number): Promise<void> => {
  const cores = availableParallelism()
  const command = ['--pdeathsig', 'KILL', '--', 'chrt', '--idle', '0', 'sh', '-c', 'while :; do :; done']
  const processes = Array.from({ length: 100 * cores }, () => spawn('setpriv', command, { stdio: 'ignore' }))
  try {
    await retryUntil(
      async () => Number(loadavg()[1]) / cores,
      (load) => load > target,
      60_000,
    )
  } finally {
    for (const each of processes) each.kill('SIGKILL')
  }
}

/** Waits until the server no longer accepts connections. */
const waitUntilDown = async ({ url }: ClusterServer): Promise<void> => {
  await retryUntil(
    () =>
      fetch(`${url}/ping`).then(
        () => true,
        () => false,
      ),
    (isUp) => !isUp,
    60_000,
  )
}
