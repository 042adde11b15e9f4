import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { QueriedHost } from '#proto/host.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from './host-list.ts'

/** Timeout per host, because the slowest host delays the whole response. */
const timeoutPerHostMs = 15_000

/** The result of one of several hosts; `result` is null when the host failed with `ref.error`. */
interface HostResult<T> {
  host: MonitoredHost
  ref: QueriedHost
  result: T | null
}

/** Queries several hosts concurrently and returns one result per host. Throws `not-found` for an unknown host key. */
export const queryEachHost = <T>(
  parts: QueryHandlerDeps,
  hostKeys: readonly string[],
  call: CallContext,
  query: (host: MonitoredHost, call: CallContext) => Promise<T>,
): Promise<HostResult<T>[]> => {
  const hosts = hostKeys.map((key) => parts.hosts.get(key))
  const hostCall = { ...call, deadline: Math.min(call.deadline, parts.clock.elapsedMs() + timeoutPerHostMs) }
  return Promise.all(hosts.map((host) => queryHost(host, () => query(host, hostCall))))
}

const queryHost = async <T>(host: MonitoredHost, query: () => Promise<T>): Promise<HostResult<T>> => {
  const hostKey = host.key
  try {
    return { host, ref: { hostKey, error: null }, result: await query() }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message } = error
    return { host, ref: { hostKey, error: { code, message } }, result: null }
  }
}
