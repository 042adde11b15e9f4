import { z } from 'zod'
import type { HostLoad } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { createRecorderCall, type RecorderDeps } from './record-host.ts'
import type { HistoryRow } from './store.ts'

const sampleMs = 15_000
/** A host is under pressure from this share of its memory or CPU on, or with this number of running queries. */
const pressureShare = 0.8
const pressureQueries = 50
const maxQueries = 20
/** Maximum number of samples that are kept while the history store is unavailable; the oldest are dropped. */
const maxBuffered = 500

/** Claims of hosts that are no longer under pressure are removed after this number of intervals. */
const keptIntervals = 20

interface Sample {
  token: string
  rows: HistoryRow[]
}

/** Returns whether the load of a host justifies recording its running queries. */
export const isUnderPressure = (load: HostLoad | null): boolean => {
  if (!load) return false
  const { memoryUsedBytes, memoryTotalBytes, cpuUsage, runningQueries } = load
  const memoryShare = memoryUsedBytes !== null && memoryTotalBytes ? memoryUsedBytes / memoryTotalBytes : 0
  return memoryShare >= pressureShare || (cpuUsage ?? 0) >= pressureShare || (runningQueries ?? 0) >= pressureQueries
}

/**
 * Samples the running queries of hosts under pressure. No log contains them, so samples are buffered until the history
 * store accepts them. Of several processes, the first one samples a host in each interval.
 */
export const openPressureSampler = (deps: RecorderDeps, signal: AbortSignal): AsyncDisposable => {
  const { hosts, probe, clock, history, telemetry } = deps
  const buffer: Sample[] = []
  let running: Promise<void> | undefined

  const sample = async (): Promise<void> => {
    const pressed = hosts.list().filter(({ key }) => isUnderPressure(probe.known(key).load))
    for (const host of pressed) {
      const interval = Math.floor(clock.now() / sampleMs)
      if (!(await claimSample(deps, host, interval))) continue
      const rows = await readRunningQueries(deps, host, signal)
      if (rows.length > 0) buffer.push({ token: [host.key, 'running', interval].join('/'), rows })
    }
    buffer.splice(0, Math.max(0, buffer.length - maxBuffered))
    for (let next = buffer[0]; next; next = buffer[0]) {
      await history.insert('running_queries', next.rows, next.token)
      buffer.shift()
    }
  }
  const timer = setInterval(() => {
    running ??= sample()
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError)) telemetry.log.error({ err: error }, 'sampling running queries failed')
      })
      .finally(() => (running = undefined))
  }, sampleMs)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}

const Claims = z.record(z.string(), z.number())

/** Returns whether this process samples the host in this interval. */
const claimSample = async ({ store }: RecorderDeps, { key }: MonitoredHost, interval: number): Promise<boolean> => {
  let isClaimed = false
  await store.update('history/pressure', Claims, (claims) => {
    isClaimed = (claims?.[key] ?? 0) < interval
    if (!isClaimed) return undefined
    const recent = Object.entries(claims ?? {}).filter(([, last]) => interval - last < keptIntervals)
    return { value: { ...Object.fromEntries(recent), [key]: interval } }
  })
  return isClaimed
}

const readRunningQueries = async (
  deps: RecorderDeps,
  host: MonitoredHost,
  signal: AbortSignal,
): Promise<HistoryRow[]> => {
  const sql = `SELECT toUnixTimestamp(now()), query_id, user, elapsed, greatest(memory_usage, 0), read_rows, leftUTF8(normalizeQuery(query), 2000)
FROM system.processes WHERE query_id != queryID() AND is_initial_query
ORDER BY memory_usage DESC, elapsed DESC LIMIT ${maxQueries}`
  const { rows } = await deps.client.run(host, { what: 'history/running', sql }, createRecorderCall(deps, signal))
  return rows.map(([time, query_id, user, elapsed_seconds, memory_bytes, rows_read, pattern]) => ({
    host: host.key,
    time,
    query_id,
    user,
    elapsed_seconds,
    memory_bytes,
    rows_read,
    pattern,
  }))
}
