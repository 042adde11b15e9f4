import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { parseSettings } from '#shared/config/setting.ts'
import { type Clock, computeAgeMs, adjustForClockJumps, recordInstant } from '#shared/time/clock.ts'
import { HostRecord, adjustHostRecord, getHostRecordKey } from '../conditions/condition.ts'
import { DigestRecord, digestRecordKey, flushEndedDigest } from '../conditions/digest.ts'
import { FleetRecord, emptyFleetRecord, fleetRecordKey } from '../conditions/fleet-record.ts'
import { isInMaintenance, isInQuietHours } from '../conditions/mute-timings.ts'
import { type NotifyResult, collectDueNotifications } from '../conditions/notify.ts'
import { closeUnmonitoredCondition } from '../conditions/transition.ts'
import { applyExpiry } from '../events/apply-event.ts'
import {
  OpenCounts,
  openCountsKey,
  countOpenEntriesWithOverflow,
  listOpenEntryIds,
  readEntry,
  countOpenEntries,
} from '../events/event-buckets.ts'
import { restoreInboundConditions } from '../events/restore.ts'
import { type EventEntry, adjustEntry, maxOpenConditions, overflowEntryId } from '../events/event-entry.ts'
import { eventAlertSettings } from '../events/settings.ts'
import {
  collectEntryNotifications,
  type EntryChange,
  type WrittenEntry,
  toUnchangedEntry,
  finishWrites,
  writeEntry,
} from '../events/write-entries.ts'
import { runConcurrently } from '../run-concurrently.ts'
import { type Notification, toOutboxMessage } from '../notification.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import type { Policy } from '../policy.ts'
import { type SweepLease, acquireSweepLease } from '../sweep-lease.ts'
import { reconcileStores } from './reconcile.ts'
import { sweepWithLease } from './sweep.ts'

const entriesAtOnce = 64
const hourMs = 60 * 60_000

/** Expires inbound conditions, and sends their due reminders and held notifications. */
export const processDueInboundConditions = async (
  parts: DispatcherDeps,
  { fence }: SweepLease,
  { policy, nowMs, max = maxOpenConditions }: { policy: Policy; nowMs: number; max?: number },
): Promise<void> => {
  await restoreInboundConditions(parts)
  const { store, env, clock } = parts
  const lifetimeMs = parseSettings(eventAlertSettings, env).SVC_EVENTS_ALERTS_HOURS * hourMs
  const hasRoom = countOpenEntries((await store.get(openCountsKey, OpenCounts)) ?? {}) < max
  const after = (place: string, entry: EventEntry, now: number): EventEntry =>
    place === overflowEntryId && hasRoom ? closeOverflow(entry) : applyExpiry(entry, { nowMs: now, lifetimeMs })
  const changed = (place: string, entry: EventEntry, now: number): EntryChange => {
    const next = after(place, entry, now)
    if (next === entry && collectEntryNotifications(entry, { policy, nowMs: now }).transitions.length === 0)
      return 'unchanged'
    // An expired entry is deleted, so that a repeated event opens a new episode.
    return next.condition === null ? 'deleted' : next
  }
  const written: WrittenEntry[] = []
  await runConcurrently(await listOpenEntryIds(store, Number.POSITIVE_INFINITY), entriesAtOnce, async (place) => {
    const stored = await readEntry(store, place)
    if (!stored?.condition) return void written.push(toUnchangedEntry(place, stored))
    const known = adjustEntry(stored, clock)
    // Entries with nothing due are not written.
    if (changed(place, known, nowMs) === 'unchanged') return
    const one = await writeEntry(
      parts,
      place,
      (entry, now) => (entry ? changed(place, entry, now) : 'unchanged'),
      fence,
    )
    if (one) written.push(one)
  })
  await finishWrites(parts, written)
}

/** Closes the overflow condition once there is room again. */
const closeOverflow = (entry: EventEntry): EventEntry =>
  entry.condition === null || entry.condition.phase === 'cleared'
    ? entry
    : { ...entry, condition: closeUnmonitoredCondition(entry.condition) ?? null }

const hostsAtOnce = 16
const minuteMs = 60_000

/**
 * Sends due reminders, held notifications and digests, or runs the scheduled sweep if it is due. Only updates metrics
 * while another process holds the lease.
 */
export const runTick = async (parts: DispatcherDeps, stop: AbortSignal): Promise<void> => {
  const fleet = (await parts.store.get(fleetRecordKey, FleetRecord)) ?? emptyFleetRecord
  parts.observe.fleet(fleet)
  parts.observe.inbound(countOpenEntriesWithOverflow((await parts.store.get(openCountsKey, OpenCounts)) ?? {}))
  const policy = await parts.policy()
  parts.observe.plan(policy.sweeps)
  await using lease = await acquireSweepLease(parts.store, stop)
  if (!lease) return
  if (isSweepDue(fleet, policy, parts.clock)) return void (await sweepWithLease(lease, parts))
  const nowMs = recordInstant(parts.clock)
  if (await isReconcileDue(parts)) await reconcileStores(parts, fleet, lease)
  const withConditions = Object.entries(fleet.hosts).flatMap(([key, { conditions }]) => (conditions > 0 ? [key] : []))
  await runConcurrently(withConditions, hostsAtOnce, (hostKey) => notifyHost(parts, lease, { hostKey, policy, nowMs }))
  await processDueInboundConditions(parts, lease, { policy, nowMs })
  await flushDigest(parts, lease, policy, nowMs)
}

const lastReconcileKey = 'alerts:reconciled'

/**
 * Returns true once a minute across all processes. Reconciliation also runs without sweeps, to recover what a process
 * decided during a database outage.
 */
const isReconcileDue = async ({ store, isPersistent }: DispatcherDeps): Promise<boolean> => {
  if (!isPersistent || (await store.get(lastReconcileKey, z.number()))) return false
  await store.update(lastReconcileKey, z.number(), () => ({ value: 1, expiresInMs: minuteMs }))
  return true
}

/** Returns whether a scheduled sweep is due. A start time in the future means that the clock was set back. */
const isSweepDue = ({ startedAtMs }: FleetRecord, { sweeps }: Pick<Policy, 'sweeps'>, clock: Clock): boolean => {
  const intervalMs = sweeps.intervalMinutes * minuteMs
  if (intervalMs === 0 || !sweeps.isEnabled) return false
  if (startedAtMs === null) return true
  const sinceMs = computeAgeMs(clock, startedAtMs)
  return sinceMs < 0 || sinceMs >= intervalMs
}

/** Sends notifications that became due since the last sweep; records with nothing due are not written. */
const notifyHost = async (
  { store, clock, episodes, observe, telemetry: { log } }: DispatcherDeps,
  { fence }: SweepLease,
  context: Parameters<typeof collectDueNotifications>[1],
): Promise<void> => {
  const key = getHostRecordKey(context.hostKey)
  const known = await store.get(key, HostRecord)
  if (!known || collectDueNotifications(adjustHostRecord(known, clock).conditions, context).transitions.length === 0)
    return
  let notified: NotifyResult | undefined
  await store.update(
    key,
    HostRecord,
    (before) => {
      if (!before) return { value: undefined }
      notified = collectDueNotifications(adjustHostRecord(before, clock).conditions, context)
      return {
        value: { ...before, conditions: notified.conditions },
        outbox: notified.notifications.map(toOutboxMessage),
      }
    },
    fence,
  )
  if (!notified) return
  observe.notified(notified)
  await episodes
    .write(notified.episodes, notified.transitions)
    .catch((error: unknown) => log.warn({ err: error }, 'saving episodes failed'))
}

const flushDigest = async (
  { store, clock }: DispatcherDeps,
  { fence }: SweepLease,
  policy: Policy,
  nowMs: number,
): Promise<void> => {
  if (!(await store.get(digestRecordKey, DigestRecord))) return
  const mustWait = ({ hostKey, source, severity }: Notification) =>
    !policy.enabled ||
    isInMaintenance(policy.maintenance, hostKey ?? source, nowMs) ||
    isInQuietHours(policy.quietHours, severity, nowMs)
  const episode = randomUUID()
  await store.update(
    digestRecordKey,
    DigestRecord,
    (before) => {
      const record = before && { ...before, startedAtMs: adjustForClockJumps(clock, before.startedAtMs) }
      const flushed = flushEndedDigest(record, { windowMs: policy.digestMs, nowMs, episode, mustWait })
      return flushed ? { value: flushed.record, outbox: [toOutboxMessage(flushed.notification)] } : { value: before }
    },
    fence,
  )
}
