import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { read } from '#shared/config/setting.ts'
import { ageMs, follow, instant } from '#shared/time/clock.ts'
import { sweepSettings, isSweepEnabled } from './sweep-settings.ts'
import { HostRecord, followed, hostRecordKey } from '../conditions/condition.ts'
import { DigestRecord, digestKey, flush } from '../conditions/digest.ts'
import { OpenCounts, countsKey, firingIn } from '../events/places.ts'
import { tickEvents } from '../events/tick-events.ts'
import { FleetRecord, emptyFleet, fleetKey } from '../conditions/fleet-record.ts'
import { inLanes } from '../in-lanes.ts'
import { isInMaintenance, isQuiet } from '../conditions/mute-timings.ts'
import { type Notice, asMessage } from '../notice.ts'
import type { Parts } from '../parts.ts'
import type { Policy } from '../policy.ts'
import { reconcile } from './reconcile.ts'
import { sweepIn } from './sweep.ts'
import { type Told, tell } from '../conditions/tell.ts'
import { type Turn, takeTurn } from '../sweep-lease.ts'

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
