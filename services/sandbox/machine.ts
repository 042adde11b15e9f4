import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, loadavg, totalmem, uptime } from 'node:os'

/** A row of `system.asynchronous_metrics`, with the same name and meaning as in ClickHouse. */
export interface AsynchronousMetric {
  metric: string
  value: number
  description: string
}

/** Cumulative counters of the machine at one time. Metrics are computed from the difference of two samples. */
export interface MachineCounters {
  atMs: number
  values: Map<string, number>
}

const BYTES_PER_KIB = 1024
const SECTOR_BYTES = 512
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096
const CPU_STATES = ['User', 'Nice', 'System', 'Idle', 'IOWait', 'Irq', 'SoftIrq', 'Steal']

/** Returns the current values of memory, load and file system. */
export function readMachineGauges(path: string): AsynchronousMetric[] {
  const [load1 = 0, load5 = 0, load15 = 0] = loadavg()
  return [
    createMetric('LoadAverage1', load1, 'Processes running or waiting, averaged over 1 minute.'),
    createMetric('LoadAverage5', load5, 'Processes running or waiting, averaged over 5 minutes.'),
    createMetric('LoadAverage15', load15, 'Processes running or waiting, averaged over 15 minutes.'),
    createMetric('OSUptime', uptime(), 'Seconds since the machine started.'),
    ...readMemoryMetrics(),
    ...readProcessMemoryMetrics(),
    ...readFileSystemMetrics('FilesystemMainPath', path),
    ...readFileSystemMetrics('FilesystemLogsPath', path),
  ]
}

/**
 * Returns the counters of the kernel since boot: CPU seconds, events, block I/O and network traffic. Empty without
 * /proc.
 */
export function readMachineCounters(atMs: number): MachineCounters {
  const values = new Map<string, number>()
  const cpu = readLines('/proc/stat').find((line) => line.startsWith('cpu '))
  const ticks = cpu?.split(/\s+/).slice(1).map(Number) ?? []
  for (const [index, state] of CPU_STATES.entries()) {
    const count = ticks[index]
    if (count !== undefined) values.set(`OS${state}Time`, count / TICKS_PER_SECOND)
  }
  for (const line of readLines('/proc/stat')) {
    const [name, count] = line.split(' ')
    if (name === 'ctxt') values.set('OSContextSwitches', Number(count))
    if (name === 'intr') values.set('OSInterrupts', Number(count))
    if (name === 'processes') values.set('OSProcessesCreated', Number(count))
  }
  for (const [name, count] of [...readBlockCounters(), ...readNetworkCounters()]) values.set(name, count)
  return { atMs, values }
}

/** Returns the metrics between two samples: CPU times as the number of busy cores, other counters as their increase. */
export function computeAsynchronousMetrics(before: MachineCounters, now: MachineCounters): AsynchronousMetric[] {
  const seconds = (now.atMs - before.atMs) / 1000
  if (seconds <= 0) return []
  const cores = availableParallelism()
  return [...now.values].flatMap(([name, value]) => {
    const grown = Math.max(0, value - (before.values.get(name) ?? value))
    if (!/^OS\w+Time$/.test(name)) return [createMetric(name, grown, 'Count since the previous sample.')]
    return [
      createMetric(name, grown / seconds, 'CPU time per second of the interval, all cores together.'),
      createMetric(`${name}Normalized`, grown / seconds / cores, 'CPU time per second of the interval, per core.'),
    ]
  })
}

function createMetric(name: string, value: number, description: string): AsynchronousMetric {
  return { metric: name, value, description }
}

function readMemoryMetrics(): AsynchronousMetric[] {
  const values = new Map(
    readLines('/proc/meminfo').map((line) => {
      const [name = '', kib = '0'] = line.split(/[:\s]+/)
      return [name, Number(kib) * BYTES_PER_KIB] as const
    }),
  )
  const free = values.get('MemFree') ?? freemem()
  const cached = values.get('Cached') ?? 0
  return [
    createMetric('OSMemoryTotal', totalmem(), 'Bytes of memory in the machine.'),
    createMetric(
      'OSMemoryAvailable',
      values.get('MemAvailable') ?? freemem(),
      'Bytes that programs can still allocate.',
    ),
    createMetric('OSMemoryFreeWithoutCached', free, 'Unused bytes, without the page cache.'),
    createMetric('OSMemoryCached', cached, 'Bytes of the page cache.'),
    createMetric('OSMemoryBuffers', values.get('Buffers') ?? 0, 'Bytes of kernel buffers.'),
    createMetric('OSMemoryFreePlusCached', free + cached, 'Unused bytes plus the page cache.'),
  ]
}

function readProcessMemoryMetrics(): AsynchronousMetric[] {
  const [virtual, resident, shared, code, , data] = readLines('/proc/self/statm')[0]?.split(' ').map(Number) ?? []
  return [
    createMetric(
      'MemoryResident',
      resident === undefined ? process.memoryUsage.rss() : resident * PAGE_BYTES,
      'Physical memory of the process, in bytes.',
    ),
    createMetric('MemoryVirtual', (virtual ?? 0) * PAGE_BYTES, 'Address space of the process, in bytes.'),
    createMetric('MemoryShared', (shared ?? 0) * PAGE_BYTES, 'Memory shared with other processes, in bytes.'),
    createMetric('MemoryCode', (code ?? 0) * PAGE_BYTES, 'Memory of machine code, in bytes.'),
    createMetric('MemoryDataAndStack', (data ?? 0) * PAGE_BYTES, 'Heap and stacks, in bytes.'),
  ]
}

function readFileSystemMetrics(prefix: string, path: string): AsynchronousMetric[] {
  const { blocks, bsize, bavail, files, ffree } = statfsSync(path)
  return [
    createMetric(`${prefix}TotalBytes`, blocks * bsize, 'Size of the volume, in bytes.'),
    createMetric(`${prefix}AvailableBytes`, bavail * bsize, 'Bytes that can still be written.'),
    createMetric(`${prefix}UsedBytes`, (blocks - bavail) * bsize, 'Bytes in use.'),
    createMetric(`${prefix}TotalINodes`, files, 'Inodes of the volume.'),
    createMetric(`${prefix}AvailableINodes`, ffree, 'Inodes that are free.'),
    createMetric(`${prefix}UsedINodes`, files - ffree, 'Inodes in use.'),
  ]
}

function readBlockCounters(): [string, number][] {
  return readLines('/proc/diskstats').flatMap((line): [string, number][] => {
    const [, , device = '', reads, , readSectors, , writes, , writeSectors] = line.trim().split(/\s+/)
    if (/^(?:loop|ram|dm-|zram)/.test(device)) return []
    return [
      [`BlockReadOps_${device}`, Number(reads)],
      [`BlockReadBytes_${device}`, Number(readSectors) * SECTOR_BYTES],
      [`BlockWriteOps_${device}`, Number(writes)],
      [`BlockWriteBytes_${device}`, Number(writeSectors) * SECTOR_BYTES],
    ]
  })
}

function readNetworkCounters(): [string, number][] {
  return readLines('/proc/net/dev')
    .slice(2)
    .flatMap((line): [string, number][] => {
      const [name = '', ...columns] = line.trim().split(/[:\s]+/)
      if (name === 'lo') return []
      const at = (index: number): number => Number(columns[index] ?? 0)
      return [
        [`NetworkReceiveBytes_${name}`, at(0)],
        [`NetworkReceivePackets_${name}`, at(1)],
        [`NetworkReceiveErrors_${name}`, at(2)],
        [`NetworkReceiveDrop_${name}`, at(3)],
        [`NetworkSendBytes_${name}`, at(8)],
        [`NetworkSendPackets_${name}`, at(9)],
        [`NetworkSendErrors_${name}`, at(10)],
        [`NetworkSendDrop_${name}`, at(11)],
      ]
    })
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').trim().split('\n')
  } catch {
    return []
  }
}
