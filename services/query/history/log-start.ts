import type { CallContext } from '#proto/call.ts'
import { findFailureReason } from '../clickhouse/failure.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { readLogStart } from './record-host.ts'

/** A host that is read by a call. */
export interface HostCall {
  parts: QueryHandlerDeps
  host: MonitoredHost
  call: CallContext
}

/** Windows that begin later than this are within the logs of a host, unless it was created since. */
export const recentMs = 3_600_000
const lifetimeMs = 600_000

/** The start of each log by host. It changes only when the host deletes old rows. */
const logStarts = new WeakMap<MonitoredHost, Map<string, { atMs: number; startMs: number | undefined }>>()

/** Returns when a log of a host begins in epoch milliseconds; undefined for an empty log. */
export const findLogStartMs = async ({ parts, host, call }: HostCall, log: string): Promise<number | undefined> => {
  const known = logStarts.get(host) ?? new Map<string, { atMs: number; startMs: number | undefined }>()
  logStarts.set(host, known)
  const entry = known.get(log)
  const nowMs = parts.clock.elapsedMs()
  if (entry && nowMs - entry.atMs < lifetimeMs) return entry.startMs
  const start = await readLogStart({ client: parts.client, host, call }, { log })
  const startMs = start === undefined ? undefined : start * 1_000
  known.set(log, { atMs: nowMs, startMs })
  return startMs
}

/** Returns whether an error means that the history should replace the data of the host. */
export const isUnreachable = (error: unknown): boolean =>
  ['unreachable', 'timeout'].includes(findFailureReason(error) ?? '')
