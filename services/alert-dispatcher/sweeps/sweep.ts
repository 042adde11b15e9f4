import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { recordInstant } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { HoldReason, Episode, Transition } from '../conditions/condition.ts'
import {
  FleetRecord,
  emptyFleetRecord,
  fleetRecordKey,
  emptyHostSummary,
  type HostSummary,
} from '../conditions/fleet-record.ts'
import { selectHostRules, selectMonitoredRules } from '../conditions/monitored-rules.ts'
import { runConcurrently, runQueues } from '../run-concurrently.ts'
import { type DispatcherDeps, createServiceCall } from '../dispatcher-deps.ts'
import { reconcileStores } from './reconcile.ts'
import {
  createFailedHosts,
  type SweepContext,
  sweepUnlistedHost,
  sweepHost,
  type HostSweepResult,
} from './sweep-host.ts'
import { sweepSettings } from './sweep-settings.ts'
import { type SweepLease, acquireSweepLease } from '../sweep-lease.ts'

const hostsAtOnce = 128
/** Concurrency for hosts that failed in the last sweep, which are measured last, and for unlisted hosts. */
const failedAtOnce = 16
const listTimeoutMs = 10_000
/** Maximum wait for the lease; a tick holds it only briefly. */
const leaseTimeoutMs = 5_000
const leaseRetryMs = 100

/** Acquires the lease and sweeps; throws `conflict` while another sweep runs. */
export const sweep = async (parts: DispatcherDeps, stop: AbortSignal): Promise<SweepResult> => {
  for (let waitedMs = 0; waitedMs <= leaseTimeoutMs; waitedMs += leaseRetryMs) {
    await using lease = await acquireSweepLease(parts.store, stop)
    // Awaited here, because the lease is released at the end of this block.
    if (lease) return await sweepWithLease(lease, parts)
    const fleet = await parts.store.get(fleetRecordKey, FleetRecord)
    if (fleet?.isSweeping) break
    await wait(leaseRetryMs, undefined, { signal: stop })
  }
  throw new ServiceError('conflict', 'a sweep is already running; wait for it to finish')
}

/**
 * Sweeps all hosts under an acquired lease. Rejects when the store or `query` fails; each host is then updated
 * completely or not at all.
 */
export const sweepWithLease = (lease: SweepLease, parts: DispatcherDeps): Promise<SweepResult> =>
  parts.observe.sweep(sweepHosts(lease, parts))

const sweepHosts = async (lease: SweepLease, parts: DispatcherDeps): Promise<SweepResult> => {
  const began = performance.now()
  const call = createServiceCall(parts, listTimeoutMs, lease.signal)
  const [policy, catalogue, hosts] = await Promise.all([
    parts.policy(),
    parts.query.rules({}, call),
    parts.query.hosts({}, call),
  ])
  parts.warnOfInvalidRules(policy, catalogue)
  parts.warnOfLostRoutes(policy)
  parts.warnOfBrokenChannels(policy)
  const nowMs = recordInstant(parts.clock)
  const listed = hosts.map(({ key }) => key)
  const fleet = await markSweepStarted(parts.store, lease, listed, nowMs)
  const tally = createTally()
  const watched = selectMonitoredRules(catalogue, policy)
  // A sweep that died may have written records without updating the summaries.
  const mayHaveConditions = (key: string) => fleet.isSweeping || fleet.hosts[key]?.conditions !== 0
  const failedHosts = createFailedHosts(parts.telemetry.log)
  const context = { lease, policy, watched, number: fleet.sweeps, failedHosts, mayHaveConditions, nowMs }
  const finish = async (hasSucceeded: boolean) => {
    failedHosts.logAll()
    await saveEpisodes(parts, tally)
    await markSweepEnded(parts, lease, { listed: new Set(listed), swept: tally.hosts, hasSucceeded })
  }
  try {
    await reconcileStores(parts, fleet, lease)
    await sweepAllHosts(parts, context, { fleet, listed, tally, hosts })
  } catch (error) {
    // The results so far are saved. If that fails too, the next sweep reconciles them.
    await finish(false).catch(() => {})
    throw error
  }
  await finish(failedHosts.areAllDecided())
  const swept = { ...tally.swept, hosts: listed.length, tookMs: Math.round(performance.now() - began) }
  parts.telemetry.log.info(swept, 'sweep finished')
  await sendHeartbeat({ ...parts, log: parts.telemetry.log })
  return swept
}

/** Marks the sweep as running and returns the previous fleet record. */
const markSweepStarted = async (
  store: Store,
  { fence }: SweepLease,
  listed: readonly string[],
  nowMs: number,
): Promise<FleetRecord> => {
  let known = emptyFleetRecord
  const step = (before = emptyFleetRecord) => {
    known = before
    const unswept = Object.fromEntries(listed.map((key) => [key, emptyHostSummary]))
    const hosts = { ...unswept, ...before.hosts }
    return { value: { ...before, hosts, sweeps: before.sweeps + 1, startedAtMs: nowMs, isSweeping: true } }
  }
  await store.update(fleetRecordKey, FleetRecord, step, fence)
  return known
}

interface SweepEnd {
  listed: ReadonlySet<string>
  swept: Tally['hosts']
  hasSucceeded: boolean
}

const markSweepEnded = async (
  { store, observe, clock }: DispatcherDeps,
  { fence }: SweepLease,
  { listed, swept, hasSucceeded }: SweepEnd,
): Promise<void> => {
  const step = (before = emptyFleetRecord) => {
    // A host that is no longer listed is kept until its recoveries are sent.
    const isOver = (key: string) => !listed.has(key) && swept[key]?.conditions === 0
    const hosts = Object.entries({ ...before.hosts, ...swept }).filter(([key]) => !isOver(key))
    const succeededAtMs = hasSucceeded ? recordInstant(clock) : before.succeededAtMs
    return { value: { ...before, hosts: Object.fromEntries(hosts), succeededAtMs, isSweeping: false } }
  }
  const fleet = await store.update(fleetRecordKey, FleetRecord, step, fence)
  if (fleet) observe.fleet(fleet)
}

/** Saves episodes; a database failure does not stop notifications. */
const saveEpisodes = async ({ episodes, telemetry: { log } }: DispatcherDeps, tally: Tally): Promise<void> => {
  try {
    await episodes.write(tally.episodes, tally.transitions)
  } catch (error) {
    log.warn({ err: error, episodes: tally.episodes.length }, 'saving episodes failed')
  }
}

const heartbeatTimeoutMs = 5_000

/** Calls the heartbeat URL; a failure does not fail the sweep. */
const sendHeartbeat = async ({ env, net, log }: { env: Environment; net: Net; log: Logger }): Promise<void> => {
  const { HEALTH_ALERT_HEARTBEAT_URL: address } = parseSettings(sweepSettings, env)
  if (!address) return
  try {
    const response = await net.trusted(address, { timeoutMs: heartbeatTimeoutMs })
    await response.body?.cancel()
    if (!response.ok) log.warn({ status: response.status }, 'heartbeat rejected')
  } catch (error) {
    // The error message contains at most the host of the heartbeat URL, never the path, which is a secret.
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'heartbeat failed')
  }
}

interface SweepTargets {
  /** The fleet record before this sweep. */
  fleet: FleetRecord
  listed: readonly string[]
  hosts: readonly Host[]
  tally: Tally
}

const sweepAllHosts = async (
  parts: DispatcherDeps,
  context: SweepContext,
  { fleet, listed, hosts, tally }: SweepTargets,
): Promise<void> => {
  const isListed = new Set(listed)
  const gone = Object.keys(fleet.hosts).filter((key) => !isListed.has(key))
  const ofHosts = context.watched.filter(({ once }) => !once)
  const byKey = new Map(hosts.map((host) => [host.key, host]))
  const contextOf = (hostKey: string): SweepContext => {
    const host = byKey.get(hostKey)
    const watched = hostKey === listed[0] ? context.watched : ofHosts
    return { ...context, watched: host ? selectHostRules(watched, host) : watched }
  }
  const work = (sweepOne: typeof sweepHost) => async (hostKey: string) => {
    context.lease.signal.throwIfAborted()
    try {
      addToTally(tally, hostKey, await sweepOne(parts, hostKey, contextOf(hostKey)))
    } catch (error) {
      if (context.lease.signal.aborted || isStoreFailure(error)) throw error
      context.failedHosts.add('swept', hostKey, error)
    }
  }
  const hasFailed = (key: string) => fleet.hosts[key]?.failed ?? false
  await runConcurrently(gone, failedAtOnce, work(sweepUnlistedHost))
  const queues = [
    { items: listed.filter((key) => !hasFailed(key)), atOnce: hostsAtOnce },
    { items: listed.filter(hasFailed), atOnce: failedAtOnce },
  ]
  await runQueues(queues, work(sweepHost))
}

/** Returns whether the store failed, which would fail every other host too. */
const isStoreFailure = (error: unknown): boolean =>
  error instanceof ServiceError && ['unavailable', 'conflict', 'busy'].includes(error.code)

/** Summary of one sweep. */
export interface SweepResult {
  hosts: number
  checks: number
  /** Number of evaluations that are not ok. */
  findings: number
  /** Number of firing conditions. */
  firing: number
  /** Number of notifications written to the outbox, recoveries included. */
  dispatched: number
  /** Number of held notifications by reason. */
  suppressed: Partial<Record<HoldReason, number>>
  recoveries: number
  unknown: number
  tookMs: number
}

/** Running totals of a sweep. */
interface Tally {
  swept: SweepResult
  hosts: Record<string, HostSummary>
  /** Saved to the database at the end, in one write. */
  episodes: Episode[]
  transitions: Transition[]
}

const createTally = (): Tally => ({
  swept: {
    hosts: 0,
    checks: 0,
    findings: 0,
    firing: 0,
    dispatched: 0,
    suppressed: {},
    recoveries: 0,
    unknown: 0,
    tookMs: 0,
  },
  hosts: {},
  episodes: [],
  transitions: [],
})

/** Adds the result of one host. */
const addToTally = (
  { swept, hosts, episodes, transitions }: Tally,
  hostKey: string,
  { decision, summary }: HostSweepResult,
): void => {
  const { evaluations, notifications, held } = decision
  hosts[hostKey] = summary
  swept.checks += evaluations.length
  swept.unknown += evaluations.filter(({ status }) => status === 'unknown').length
  swept.findings += evaluations.filter(({ status }) => status === 'warning' || status === 'critical').length
  swept.firing += summary.firing
  swept.dispatched += notifications.length
  swept.recoveries += notifications.filter(({ kind }) => kind === 'recover').length
  for (const [reason, times] of Object.entries(held)) {
    // `held` and `suppressed` have the same keys.
    const name = reason as HoldReason
    swept.suppressed[name] = (swept.suppressed[name] ?? 0) + times
  }
  episodes.push(...decision.episodes)
  transitions.push(...decision.transitions)
}
