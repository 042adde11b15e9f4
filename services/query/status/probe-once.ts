import { toGrantStatements } from '../clickhouse/show-privileges.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostLoad, HostState } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { HostCapabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { findClickhouseErrorCode, findFailureReason } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import {
  buildBasicsStatement,
  buildMetricsStatement,
  loadMetricNames,
  readBasics,
  readMetrics,
} from './status-statement.ts'

const timeoutMs = 2_000
/** Timeout of the retry without load metrics. It is short, so that a state is never older than ten seconds. */
const retryTimeoutMs = 1_000
/** Pause of load queries after a timeout, because the late query may still run on the host. */
const loadPauseMs = 60_000

/** The host state that a probe determines. */
export type ProbedState = Omit<HostState, 'id' | 'key' | 'name' | 'clockSkewMs'>

/** The data about a host that is retained between probes. */
export interface ProbedHost {
  state: ProbedState
  /** Null when the host is not up or does not provide load metrics. */
  load: HostLoad | null
  /** The host name that the host reports; retained while it is down. */
  hostname: string | null
  /** The time zone that the host reports; retained like its name. */
  timezone: string | null
  /** The wall clock of the host minus the local monotonic clock; null before the first response. */
  aheadMs: number | null
  /** Capabilities for which the load query has failed; it is skipped until they change. */
  loadless: HostCapabilities | undefined
  /** Load queries are skipped until this time, because the last one timed out. */
  loadPausedUntilMs: number
  /** Time of `state` on the monotonic clock; null before the first probe has ended. */
  checkedMs: number | null
}

/** The log tables from which most pages read history; servers write them by default. */
const requiredLogs = ['query_log', 'part_log', 'metric_log', 'asynchronous_metric_log'] as const

export const unknownState: ProbedState = {
  status: 'unknown',
  reason: null,
  failure: null,
  version: null,
  uptimeSeconds: null,
  latencyMs: null,
  checkedAtMs: null,
  missingGrants: [],
  missingLogs: [],
}

interface ProbeOnceDeps {
  client: DatabaseClient
  clock: Clock
}

/** Queries state and load in one statement. The first probe of a host then loads its capabilities and queries again. */
export const probeOnce = async (
  deps: ProbeOnceDeps,
  host: MonitoredHost,
  known: ProbedHost,
  signal: AbortSignal,
): Promise<void> => {
  const { client, clock } = deps
  const isFirst = client.known(host) === undefined
  try {
    await update(deps, host, known, signal)
    const capabilities = await client.capabilities(host, sweepContext(clock, signal)).catch(() => undefined)
    if (isFirst && capabilities) await update(deps, host, known, signal)
  } catch (error) {
    if (signal.aborted) return
    const failure = error instanceof ServiceError ? error.message : null
    known.state = { ...unknownState, status: 'down', reason: reasonOf(error), failure, checkedAtMs: clock.now() }
    known.checkedMs = clock.elapsedMs()
    known.load = null
  }
}

const sweepContext = (clock: Clock, signal: AbortSignal, limitMs = timeoutMs) =>
  ({ signal, deadline: clock.elapsedMs() + limitMs, priority: 'sweep' }) as const

const update = async (
  deps: ProbeOnceDeps,
  host: MonitoredHost,
  known: ProbedHost,
  signal: AbortSignal,
): Promise<void> => {
  const startedMs = deps.clock.elapsedMs()
  const { rows, hasLoad } = await queryHost(deps, host, known, signal)
  const [checkedAtMs, checkedMs] = [deps.clock.now(), deps.clock.elapsedMs()]
  const { version, uptimeSeconds, hostname, timezone, nowMs } = readBasics(host, rows)
  const latencyMs = Math.round(checkedMs - startedMs)
  known.aheadMs = nowMs - (checkedMs - latencyMs / 2)
  const capabilities = deps.client.known(host)
  const missing = {
    missingGrants: toGrantStatements(capabilities?.missingShow),
    missingLogs: capabilities ? requiredLogs.filter((log) => !capabilities.tables.has(log)) : [],
  }
  known.state = { ...unknownState, status: 'up', version, uptimeSeconds, latencyMs, checkedAtMs, ...missing }
  known.checkedMs = checkedMs
  known.hostname = hostname
  known.timezone = timezone
  known.load = hasLoad ? readMetrics(host, loadMetricNames, rows) : null
}

const queryHost = async (
  { client, clock }: ProbeOnceDeps,
  host: MonitoredHost,
  known: ProbedHost,
  signal: AbortSignal,
) => {
  const send = async (statement: Statement, limitMs: number) =>
    (await client.probe(host, statement, sweepContext(clock, signal, limitMs), limitMs)).rows
  const queryState = async (limitMs: number) => ({ rows: await send(stateStatement, limitMs), hasLoad: false })

  const capabilities = client.known(host)
  const isPaused = clock.elapsedMs() < known.loadPausedUntilMs
  if (!capabilities || capabilities === known.loadless || isPaused) return queryState(timeoutMs)
  try {
    return { rows: await send(loadStatement(capabilities.tables), timeoutMs), hasLoad: true }
  } catch (error) {
    // A host that waits for Keeper cannot report its load, but still responds to statements without tables.
    const isLate = findFailureReason(error) === 'timeout'
    if (!isLate && findClickhouseErrorCode(error) === undefined) throw error
    const result = await queryState(retryTimeoutMs)
    if (isLate) known.loadPausedUntilMs = clock.elapsedMs() + loadPauseMs
    else known.loadless = capabilities
    return result
  }
}

const stateStatement = buildBasicsStatement('probe')

/** Caches a pure function: hosts with equal tables share one statement. */
const loadStatements = new WeakMap<ReadonlySet<string>, Statement>()

const loadStatement = (tables: ReadonlySet<string>): Statement => {
  const statement = loadStatements.get(tables) ?? buildMetricsStatement('probe', loadMetricNames, tables)
  loadStatements.set(tables, statement)
  return statement
}

/** Returns the reason for a failed probe. An exception counts as `garbage`, because the statement is trivial. */
const reasonOf = (error: unknown): HostState['reason'] => findFailureReason(error) ?? 'garbage'
