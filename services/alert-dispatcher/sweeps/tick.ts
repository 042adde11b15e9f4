import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { read } from '#shared/config/setting.ts'
import { ageMs, follow, instant } from '#shared/time/clock.ts'
import { HostRecord, followed, hostRecordKey } from '../conditions/condition.ts'
import { DigestRecord, digestKey, flush } from '../conditions/digest.ts'
import { FleetRecord, emptyFleet, fleetKey } from '../conditions/fleet-record.ts'
import { isInMaintenance, isQuiet } from '../conditions/mute-timings.ts'
import { type Told, tell } from '../conditions/tell.ts'
import { withdrawn } from '../conditions/transition.ts'
import { afterTime } from '../events/entry.ts'
import { OpenCounts, countsKey, firingIn, openPlaces, entryAt, openIn } from '../events/places.ts'
import { rebuildEvents } from '../events/rebuild.ts'
import { type EventEntry, followedEntry, mostOpen, overflowPlace } from '../events/record.ts'
import { eventAlertSettings } from '../events/settings.ts'
import { tellEntry, type Changed, type Written, asItIs, settle, writeEntry } from '../events/write.ts'
import { inLanes } from '../in-lanes.ts'
import { type Notice, asMessage } from '../notice.ts'
import type { Parts } from '../parts.ts'
import type { Policy } from '../policy.ts'
import { type Turn, takeTurn } from '../sweep-lease.ts'
import { reconcile } from './reconcile.ts'
import { sweepSettings, isSweepEnabled } from './sweep-settings.ts'
import { sweepIn } from './sweep.ts'

const entriesAtOnce = 64
const hourMs = 60 * 60_000

/** What time alone brings about for inbound events: their end, reminders, and what was held until now. */
export const tickEvents = async (
  parts: Parts,
  { fence }: Turn,
  { policy, nowMs, most = mostOpen }: { policy: Policy; nowMs: number; most?: number },
): Promise<void> => {
  await rebuildEvents(parts)
  const { store, env, clock } = parts
  const lifeMs = read(eventAlertSettings, env).SVC_EVENTS_ALERTS_HOURS * hourMs
  const hasRoom = openIn((await store.get(countsKey, OpenCounts)) ?? {}) < most
  const after = (place: string, entry: EventEntry, now: number): EventEntry =>
    place === overflowPlace && hasRoom ? over(entry) : afterTime(entry, { nowMs: now, lifeMs })
  const changed = (place: string, entry: EventEntry, now: number): Changed => {
    const next = after(place, entry, now)
    if (next === entry && tellEntry(entry, { policy, nowMs: now }).happenings.length === 0) return 'stays'
    // What ended by itself is not remembered: the same event, sent again, begins it anew.
    return next.condition === null ? 'goes' : next
  }
  const written: Written[] = []
  await inLanes(await openPlaces(store, Number.POSITIVE_INFINITY), entriesAtOnce, async (place) => {
    const stored = await entryAt(store, place)
    if (!stored?.condition) return void written.push(asItIs(place, stored))
    const known = followedEntry(stored, clock)
    // An entry of which nothing is due is not written.
    if (changed(place, known, nowMs) === 'stays') return
    const one = await writeEntry(parts, place, (entry, now) => (entry ? changed(place, entry, now) : 'stays'), fence)
    if (one) written.push(one)
  })
  await settle(parts, written)
}

/** There is room again, so nothing stands for what found none. */
const over = (entry: EventEntry): EventEntry =>
  entry.condition === null || entry.condition.phase === 'cleared'
    ? entry
    : { ...entry, condition: withdrawn(entry.condition) ?? null }

const hostsAtOnce = 16
const minuteMs = 60_000

/**
 * What time alone brings about, by whoever has the turn: reminders, what was held until now, digests whose window has ended, and
 * the sweep that is due. Nothing while another has the turn.
 */
export const tick = async (parts: Parts, stop: AbortSignal): Promise<void> => {
  const fleet = (await parts.store.get(fleetKey, FleetRecord)) ?? emptyFleet
  parts.observe.fleet(fleet)
  parts.observe.inbound(firingIn((await parts.store.get(countsKey, OpenCounts)) ?? {}))
  await using turn = await takeTurn(parts.store, stop)
  if (!turn) return
  if (isSweepDue(fleet, parts)) return void (await sweepIn(turn, parts))
  const policy = await parts.policy()
  const nowMs = instant(parts.clock)
  if (await isReconcileDue(parts)) await reconcile(parts, fleet, turn)
  const withConditions = Object.entries(fleet.hosts).flatMap(([key, { conditions }]) => (conditions > 0 ? [key] : []))
  await inLanes(withConditions, hostsAtOnce, (hostKey) => tellHost(parts, turn, { hostKey, policy, nowMs }))
  await tickEvents(parts, turn, { policy, nowMs })
  await flushDigest(parts, turn, policy, nowMs)
}

const reconciledKey = 'alerts:reconciled'

/**
 * Whether store and database are to be brought to one account now: once a minute, by whichever process has the turn. What was decided
 * while the database was down, by a process that ended meanwhile, gets there so, whether or not there are sweeps.
 */
const isReconcileDue = async ({ store, isLasting }: Parts): Promise<boolean> => {
  if (!isLasting || (await store.get(reconciledKey, z.number()))) return false
  await store.update(reconciledKey, z.number(), () => ({ value: 1, expiresInMs: minuteMs }))
  return true
}

/** A clock that was set back before this process began must not put it off. */
const isSweepDue = ({ begunAtMs }: FleetRecord, { env, clock }: Parts): boolean => {
  const intervalMs = read(sweepSettings, env).SVC_HEALTH_SWEEP_INTERVAL_MINUTES * minuteMs
  if (intervalMs === 0 || !isSweepEnabled(env)) return false
  if (begunAtMs === null) return true
  const sinceMs = ageMs(clock, begunAtMs)
  return sinceMs < 0 || sinceMs >= intervalMs
}

/** Tells what has become due since the last sweep; a record of which nothing is due is not written. */
const tellHost = async (
  { store, clock, episodes, observe, telemetry: { log } }: Parts,
  { fence }: Turn,
  telling: Parameters<typeof tell>[1],
): Promise<void> => {
  const key = hostRecordKey(telling.hostKey)
  const known = await store.get(key, HostRecord)
  if (!known || tell(followed(known, clock).conditions, telling).happenings.length === 0) return
  let told: Told | undefined
  await store.update(
    key,
    HostRecord,
    (before) => {
      if (!before) return { value: undefined }
      told = tell(followed(before, clock).conditions, telling)
      return { value: { ...before, conditions: told.conditions }, outbox: told.notices.map(asMessage) }
    },
    fence,
  )
  if (!told) return
  observe.told(told)
  await episodes
    .write(told.episodes, told.happenings)
    .catch((error: unknown) => log.warn({ err: error }, 'episodes could not be kept'))
}

const flushDigest = async ({ store, clock }: Parts, { fence }: Turn, policy: Policy, nowMs: number): Promise<void> => {
  if (!(await store.get(digestKey, DigestRecord))) return
  const mustWait = ({ hostKey, source, severity }: Notice) =>
    !policy.enabled ||
    isInMaintenance(policy.maintenance, hostKey ?? source, nowMs) ||
    isQuiet(policy.quietHours, severity, nowMs)
  const episode = randomUUID()
  await store.update(
    digestKey,
    DigestRecord,
    (before) => {
      const record = before && { ...before, startedAtMs: follow(clock, before.startedAtMs) }
      const flushed = flush(record, { windowMs: policy.digestMs, nowMs, episode, mustWait })
      return flushed ? { value: flushed.record, outbox: [asMessage(flushed.notice)] } : { value: before }
    },
    fence,
  )
}
