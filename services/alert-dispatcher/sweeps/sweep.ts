import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import { instant } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { HeldReason, Episode, Happening } from '../conditions/condition.ts'
import { FleetRecord, emptyFleet, fleetKey, unsweptHost, type HostSummary } from '../conditions/fleet-record.ts'
import { watchedRules } from '../conditions/watched.ts'
import { inLanes, queueByQueue } from '../in-lanes.ts'
import { type Parts, ownCall } from '../parts.ts'
import { reconcile } from './reconcile.ts'
import { openMissed, type Sweeping, leaveHost, sweepHost, type SweptHost } from './sweep-host.ts'
import { sweepSettings } from './sweep-settings.ts'
import { type Turn, takeTurn } from '../sweep-lease.ts'

const hostsAtOnce = 128
/** Those that did not answer last time wait for each other at the end, where nobody waits for them. */
const failedAtOnce = 16
const listedWithinMs = 10_000
/** A tick has the turn for a moment. */
const turnWithinMs = 5_000
const turnEveryMs = 100

/** Takes the turn and sweeps; `conflict` while another sweep runs. */
export const sweep = async (parts: Parts, stop: AbortSignal): Promise<Swept> => {
  for (let waitedMs = 0; waitedMs <= turnWithinMs; waitedMs += turnEveryMs) {
    await using turn = await takeTurn(parts.store, stop)
    // Awaited here, for the turn ends with this block.
    if (turn) return await sweepIn(turn, parts)
    const fleet = await parts.store.get(fleetKey, FleetRecord)
    if (fleet?.isSweeping) break
    await wait(turnEveryMs, undefined, { signal: stop })
  }
  throw new ServiceError('conflict', 'a sweep is running already; it does what this one would')
}

/** Sweeps all hosts with a turn that is held. Rejects when the store or `query` fails: each host is then decided whole or not at all. */
export const sweepIn = (turn: Turn, parts: Parts): Promise<Swept> => parts.observe.sweep(sweepHosts(turn, parts))

const sweepHosts = async (turn: Turn, parts: Parts): Promise<Swept> => {
  const began = performance.now()
  const call = ownCall(parts, listedWithinMs, turn.signal)
  const [policy, catalogue, hosts] = await Promise.all([
    parts.policy(),
    parts.query.rules({}, call),
    parts.query.hosts({}, call),
  ])
  parts.warnOfUnsoundRules(policy, catalogue)
  parts.warnOfLostRoutes(policy)
  parts.warnOfBrokenChannels(policy)
  const nowMs = instant(parts.clock)
  const listed = hosts.map(({ key }) => key)
  const fleet = await begin(parts.store, turn, listed, nowMs)
  const tally = newTally()
  const watched = watchedRules(catalogue, policy)
  // A sweep that died on the way has written records and not what they hold.
  const mayHaveConditions = (key: string) => fleet.isSweeping || fleet.hosts[key]?.conditions !== 0
  const missed = openMissed(parts.telemetry.log)
  const sweeping = { turn, policy, watched, number: fleet.sweeps, missed, mayHaveConditions, nowMs }
  const finish = async (hasSucceeded: boolean) => {
    missed.tell()
    await keep(parts, tally)
    await end(parts, turn, { listed: new Set(listed), swept: tally.hosts, hasSucceeded })
  }
  try {
    await reconcile(parts, fleet, turn)
    await sweepAll(parts, sweeping, { fleet, listed, tally })
  } catch (error) {
    // What was decided so far counts; where that cannot be said either, the next sweep finds it out.
    await finish(false).catch(() => {})
    throw error
  }
  await finish(missed.areAllDecided())
  const swept = { ...tally.swept, hosts: listed.length, tookMs: Math.round(performance.now() - began) }
  parts.telemetry.log.info(swept, 'sweep finished')
  await beat({ ...parts, log: parts.telemetry.log })
  return swept
}

/** Says that a sweep runs, and gives what was known before. */
const begin = async (store: Store, { fence }: Turn, listed: readonly string[], nowMs: number): Promise<FleetRecord> => {
  let known = emptyFleet
  const step = (before = emptyFleet) => {
    known = before
    const unswept = Object.fromEntries(listed.map((key) => [key, unsweptHost]))
    const hosts = { ...unswept, ...before.hosts }
    return { value: { ...before, hosts, sweeps: before.sweeps + 1, begunAtMs: nowMs, isSweeping: true } }
  }
  await store.update(fleetKey, FleetRecord, step, fence)
  return known
}

interface EndedSweep {
  listed: ReadonlySet<string>
  swept: Tally['hosts']
  hasSucceeded: boolean
}

const end = async (
  { store, observe, clock }: Parts,
  { fence }: Turn,
  { listed, swept, hasSucceeded }: EndedSweep,
): Promise<void> => {
  const step = (before = emptyFleet) => {
    // A host that has left the list is remembered until all who knew of its conditions have been told.
    const isOver = (key: string) => !listed.has(key) && swept[key]?.conditions === 0
    const hosts = Object.entries({ ...before.hosts, ...swept }).filter(([key]) => !isOver(key))
    const succeededAtMs = hasSucceeded ? instant(clock) : before.succeededAtMs
    return { value: { ...before, hosts: Object.fromEntries(hosts), succeededAtMs, isSweeping: false } }
  }
  const fleet = await store.update(fleetKey, FleetRecord, step, fence)
  if (fleet) observe.fleet(fleet)
}

/** Writes what became of episodes; a database that does not answer stops nobody from being told. */
const keep = async ({ episodes, telemetry: { log } }: Parts, tally: Tally): Promise<void> => {
  try {
    await episodes.write(tally.episodes, tally.happenings)
  } catch (error) {
    log.warn({ err: error, episodes: tally.episodes.length }, 'episodes could not be kept')
  }
}

const answersWithinMs = 5_000

/** Tells whoever expects it that a sweep has ended; that it cannot be told fails no sweep. */
const beat = async ({ env, net, log }: { env: Environment; net: Net; log: Logger }): Promise<void> => {
  const { HEALTH_ALERT_HEARTBEAT_URL: address } = read(sweepSettings, env)
  if (!address) return
  try {
    const answer = await net.trusted(address, { timeoutMs: answersWithinMs })
    await answer.body?.cancel()
    if (!answer.ok) log.warn({ status: answer.status }, 'heartbeat was refused')
  } catch (error) {
    // Its message names the host at most, never the path, which is a secret.
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'heartbeat could not be sent')
  }
}

interface Hosts {
  /** As the sweep before left it. */
  fleet: FleetRecord
  listed: readonly string[]
  tally: Tally
}

const sweepAll = async (parts: Parts, sweeping: Sweeping, { fleet, listed, tally }: Hosts): Promise<void> => {
  const isListed = new Set(listed)
  const gone = Object.keys(fleet.hosts).filter((key) => !isListed.has(key))
  const ofHosts = { ...sweeping, watched: sweeping.watched.filter(({ once }) => !once) }
  const work = (act: typeof sweepHost) => async (hostKey: string) => {
    sweeping.turn.signal.throwIfAborted()
    try {
      count(tally, hostKey, await act(parts, hostKey, hostKey === listed[0] ? sweeping : ofHosts))
    } catch (error) {
      if (sweeping.turn.signal.aborted || isOfTheStore(error)) throw error
      sweeping.missed.add('swept', hostKey, error)
    }
  }
  const hasFailed = (key: string) => fleet.hosts[key]?.failed ?? false
  await inLanes(gone, failedAtOnce, work(leaveHost))
  const queues = [
    { items: listed.filter((key) => !hasFailed(key)), atOnce: hostsAtOnce },
    { items: listed.filter(hasFailed), atOnce: failedAtOnce },
  ]
  await queueByQueue(queues, work(sweepHost))
}

/** One that no other host would fare better with. */
const isOfTheStore = (error: unknown): boolean =>
  error instanceof ServiceError && ['unavailable', 'conflict', 'busy'].includes(error.code)

/** What one sweep did. */
export interface Swept {
  hosts: number
  checks: number
  /** Checks that were not ok. */
  findings: number
  /** Conditions that fire now. */
  firing: number
  /** Notices handed on, recoveries among them. */
  dispatched: number
  /** Notices that were due and not handed on, by why. */
  suppressed: Partial<Record<HeldReason, number>>
  recoveries: number
  unknown: number
  tookMs: number
}

/** What a sweep has done so far. */
interface Tally {
  swept: Swept
  hosts: Record<string, HostSummary>
  /** To be kept beside the store, at the end and all at once. */
  episodes: Episode[]
  happenings: Happening[]
}

const newTally = (): Tally => ({
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
  happenings: [],
})

/** Adds one host. */
const count = (
  { swept, hosts, episodes, happenings }: Tally,
  hostKey: string,
  { decision, summary }: SweptHost,
): void => {
  const { verdicts, notices, held } = decision
  hosts[hostKey] = summary
  swept.checks += verdicts.length
  swept.unknown += verdicts.filter(({ status }) => status === 'unknown').length
  swept.findings += verdicts.filter(({ status }) => status === 'warning' || status === 'critical').length
  swept.firing += summary.firing
  swept.dispatched += notices.length
  swept.recoveries += notices.filter(({ kind }) => kind === 'recover').length
  for (const [reason, times] of Object.entries(held)) {
    // The keys are those of `held`, and `suppressed` has the same.
    const name = reason as HeldReason
    swept.suppressed[name] = (swept.suppressed[name] ?? 0) + times
  }
  episodes.push(...decision.episodes)
  happenings.push(...decision.happenings)
}
