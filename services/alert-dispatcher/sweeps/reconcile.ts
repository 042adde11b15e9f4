import {
  type HostRecord,
  HostRecord as HostRecordSchema,
  getHostRecordKey,
  type Episode,
  type Transition,
  type EpisodeSilences,
  hasSameSilences,
} from '../conditions/condition.ts'
import {
  filterMissedNotifications,
  repeatNotifications,
  repeatMissedRecoveries,
  restoreInboundConditions,
} from '../events/restore.ts'
import { emptyHostRecord } from '../conditions/evaluate-host-sweep.ts'
import type { FleetRecord } from '../conditions/fleet-record.ts'
import { reconcileInboundConditions } from '../events/inbound-conditions.ts'
import {
  type NotifyResult,
  advanceToRecovery,
  createRepeatedNotification,
  collectDueNotifications,
} from '../conditions/notify.ts'
import { toOutboxMessage } from '../notification.ts'
import { recordInstant } from '#shared/time/clock.ts'
import { runConcurrently } from '../run-concurrently.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import type { SweepLease } from '../sweep-lease.ts'

const hostsAtOnce = 16

/**
 * Reconciles the state store with the state database. Lost host records get their open episodes back, conditions get
 * their silences, and the database gets missing episodes. Episodes that the store closed are ended. If the database
 * cannot be read, the store is left unchanged.
 */
export const reconcileStores = async (
  parts: DispatcherDeps,
  fleet: FleetRecord,
  { fence }: SweepLease,
): Promise<void> => {
  const { episodes, isPersistent, store, clock } = parts
  const { log } = parts.telemetry
  if (!isPersistent) return
  const [policy, nowMs] = [await parts.policy(), recordInstant(clock)]
  const stored = await Promise.all([episodes.open(), episodes.storedSilences()]).catch((error: unknown) => {
    log.warn({ err: error }, 'reading episodes failed; using the last known ones')
    return undefined
  })
  if (!stored) return
  const [open, silences] = stored
  const silencesOf = new Map(silences.map((silence) => [silence.episode, silence]))
  const openOf = Map.groupBy(open, ({ hostKey }) => hostKey)
  const isStored = new Set(open.map(({ condition }) => condition.episode))
  const [over, missing]: [Episode[], Episode[]] = [[], []]
  const hostKeys = new Set([...openOf.keys(), ...listHostsWithConditions(fleet)])
  await runConcurrently([...hostKeys], hostsAtOnce, async (hostKey) => {
    const ofHost = openOf.get(hostKey) ?? []
    const key = getHostRecordKey(hostKey)
    const known = await store.get(key, HostRecordSchema)
    const conditions = Object.values(known?.conditions ?? {})
    if (known) over.push(...ofHost.filter(({ condition }) => !hasEpisode(known, condition.episode)))
    const unstored = conditions.filter(({ phase, episode }) => phase !== 'pending' && !isStored.has(episode))
    missing.push(...unstored.map((condition) => ({ hostKey, condition, endedAtMs: null })))
    if (reconcileRecord(known, ofHost, silencesOf) === known) return
    const last = ofHost.map(({ condition }) => createRepeatedNotification(condition, null, { hostKey, nowMs }))
    const missed = known ? [] : await filterMissedNotifications(parts, last)
    let notified: NotifyResult | undefined
    const step = (before: HostRecord | undefined) => {
      const record = reconcileRecord(before, ofHost, silencesOf)
      notified = before || !record ? undefined : collectDueNotifications(record.conditions, { hostKey, policy, nowMs })
      if (!record || !notified) return { value: record }
      return {
        value: { ...record, conditions: notified.conditions },
        outbox: [...missed, ...notified.notifications].map(toOutboxMessage),
      }
    }
    await store.update(key, HostRecordSchema, step, fence)
    if (notified) await saveEpisodes(parts, notified.episodes, notified.transitions)
  })
  await reconcileEvents(parts, silences)
  await endClosedEpisodes(parts, over, nowMs)
  await saveEpisodes(parts, missing)
}

/** Returns the hosts that may have conditions: all of them if the last sweep died before it updated the summaries. */
const listHostsWithConditions = ({ hosts, isSweeping }: FleetRecord): string[] =>
  Object.entries(hosts).flatMap(([key, { conditions }]) => (isSweeping || conditions > 0 ? [key] : []))

/** Ends episodes that the store closed. Repeats missed recoveries, because the store may have lost the episodes. */
const endClosedEpisodes = async (parts: DispatcherDeps, over: readonly Episode[], nowMs: number): Promise<void> => {
  const endedAtMs = parts.clock.now()
  const ended = over.map(({ hostKey, condition }) => ({ hostKey, condition: advanceToRecovery(condition), endedAtMs }))
  const last = ended.map(({ hostKey, condition }) =>
    createRepeatedNotification(condition, endedAtMs, { hostKey, nowMs }),
  )
  try {
    await repeatNotifications(parts.store, await filterMissedNotifications(parts, last))
  } catch (error) {
    return parts.telemetry.log.warn({ err: error }, 'closing ended episodes failed')
  }
  await saveEpisodes(parts, ended)
}

const saveEpisodes = async (
  { episodes, telemetry: { log } }: DispatcherDeps,
  some: readonly Episode[],
  transitions: readonly Transition[] = [],
): Promise<void> => {
  if (some.length + transitions.length === 0) return
  await episodes.write(some, transitions).catch((error: unknown) => log.warn({ err: error }, 'saving episodes failed'))
}

/** Reconciles inbound conditions. Lost ones are restored first, so that they are not mistaken for closed ones. */
export const reconcileEvents = async (parts: DispatcherDeps, silences: readonly EpisodeSilences[]): Promise<void> => {
  const { log } = parts.telemetry
  await restoreInboundConditions(parts)
  try {
    await reconcileInboundConditions(parts, silences)
    await repeatMissedRecoveries(parts)
  } catch (error) {
    log.warn({ err: error }, 'reconciling inbound conditions failed')
  }
}

const hasEpisode = ({ conditions }: HostRecord, episode: string): boolean =>
  Object.values(conditions).some((condition) => condition.episode === episode)

/** Returns a host record with lost open episodes and the stored silences; the same record if nothing differs. */
export const reconcileRecord = (
  known: HostRecord | undefined,
  open: readonly Episode[],
  silencesOf: ReadonlyMap<string, EpisodeSilences>,
): HostRecord | undefined => {
  if (!known && open.length === 0) return undefined
  const record = known ?? {
    ...emptyHostRecord,
    conditions: Object.fromEntries(open.map(({ condition }) => [condition.ruleId, condition])),
  }
  const changed = Object.values(record.conditions).flatMap((condition) => {
    const { acknowledged = null, dismissed = null } = silencesOf.get(condition.episode) ?? {}
    const silence = { acknowledged, dismissed }
    return hasSameSilences(condition, silence) ? [] : [{ ...condition, ...silence }]
  })
  if (changed.length === 0) return record
  const after = Object.fromEntries(changed.map((condition) => [condition.ruleId, condition]))
  return { ...record, conditions: { ...record.conditions, ...after } }
}
