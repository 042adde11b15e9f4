import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { HostCapabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { findClickhouseErrorCode, findFailureReason } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { buildBasicsStatement, type HostBasics, readBasics } from '../status/status-statement.ts'

const probeMs = 2_000
const probeStatement = buildBasicsStatement('rules')

/** The result of contacting a reachable host. */
export interface ReachableHost extends HostBasics {
  answers: true
  capabilities: HostCapabilities
}

/** The result of contacting a host that did not respond or rejected the request. */
export interface UnreachableHost {
  answers: false
  reason: string
  /** Whether the host rejected the configured user or password. */
  isRefused: boolean
}
export type HostProbe = ReachableHost | UnreachableHost

interface ContactDeps {
  client: DatabaseClient
  clock: Clock
}

/** Probes a host before other statements run, over a connection outside the pool. */
export const probeHost = async (
  { client, clock }: ContactDeps,
  host: MonitoredHost,
  call: CallContext,
): Promise<HostProbe> => {
  const context = { ...call, deadline: Math.min(call.deadline, clock.elapsedMs() + probeMs) }
  try {
    const { rows } = await client.probe(host, probeStatement, context, probeMs)
    const basics = readBasics(host, rows)
    return { answers: true, ...basics, capabilities: await client.capabilities(host, call) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answers: false, isRefused: findFailureReason(error) === 'refused', reason: reasonOf(host, error) }
  }
}

/** Returns why the probe failed, without the server's own message, which repeats the statement. */
const reasonOf = (host: MonitoredHost, error: ServiceError): string => {
  const code = findClickhouseErrorCode(error)
  return code === undefined
    ? error.message
    : `host ${host.name}: the probe failed with ${code} ${String(error.details?.clickhouseName)}`
}
