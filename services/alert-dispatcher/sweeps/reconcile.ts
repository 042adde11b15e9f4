import {
  type HostRecord,
  HostRecord as HostRecordSchema,
  hostRecordKey,
  type Episode,
  type Happening,
  type Settled,
  sameSilences,
} from '../conditions/condition.ts'
import { missedOf, notifyAgain, notifyMissedEnds, rebuildEvents } from '../events/rebuild.ts'
import { emptyRecord } from '../conditions/decide.ts'
import type { FleetRecord } from '../conditions/fleet-record.ts'
import { reconcileOpen } from '../events/inbound-conditions.ts'
import { type Told, afterEnd, lastNotice, tell } from '../conditions/tell.ts'
import { asMessage } from '../notice.ts'
import { instant } from '#shared/time/clock.ts'
import { inLanes } from '../in-lanes.ts'
import type { Parts } from '../parts.ts'
import type { Turn } from '../sweep-lease.ts'

const atOnce = 16

/**
 * Brings the store and the state database to one account: hosts whose records were lost get their open episodes back,
 * conditions get what operators said about them, the database gets the episodes that it could not take, and those that the store knows
 * to be over are ended. While the database cannot be read, what the store knows holds.
 */
export const reconcile = async (parts: Parts, fleet: FleetRecord, { fence }: Turn): Promise<void> => {
  const { episodes, isLasting, store, clock } = parts
  const { log } = parts.telemetry
  if (!isLasting) return
  const [policy, nowMs] = [await parts.policy(), instant(clock)]
  const kept = await Promise.all([episodes.open(), episodes.settled()]).catch((error: unknown) => {
    log.warn({ err: error }, 'episodes cannot be read; what is known of them holds')
    return undefined
  })
  if (!kept) return
  const [open, settled] = kept
  const saidOf = new Map(settled.map((said) => [said.episode, said]))
  const openOf = Map.groupBy(open, ({ hostKey }) => hostKey)
  const isKept = new Set(open.map(({ condition }) => condition.episode))
  const [over, missing]: [Episode[], Episode[]] = [[], []]
  await inLanes([...new Set([...openOf.keys(), ...withConditions(fleet)])], atOnce, async (hostKey) => {
    const ofHost = openOf.get(hostKey) ?? []
    const key = hostRecordKey(hostKey)
    const known = await store.get(key, HostRecordSchema)
    const conditions = Object.values(known?.conditions ?? {})
    if (known) over.push(...ofHost.filter(({ condition }) => !isKnown(known, condition.episode)))
    const unkept = conditions.filter(({ phase, episode }) => phase !== 'pending' && !isKept.has(episode))
    missing.push(...unkept.map((condition) => ({ hostKey, condition, endedAtMs: null })))
    if (reconciled(known, ofHost, saidOf) === known) return
    const last = ofHost.map(({ condition }) => lastNotice(condition, null, { hostKey, nowMs }))
    const missed = known ? [] : await missedOf(parts, last)
    let told: Told | undefined
    const step = (before: HostRecord | undefined) => {
      const record = reconciled(before, ofHost, saidOf)
      told = before || !record ? undefined : tell(record.conditions, { hostKey, policy, nowMs })
      if (!record || !told) return { value: record }
      return { value: { ...record, conditions: told.conditions }, outbox: [...missed, ...told.notices].map(asMessage) }
    }
    await store.update(key, HostRecordSchema, step, fence)
    if (told) await keep(parts, told.episodes, told.happenings)
  })
  await reconcileEvents(parts, settled)
  await endOver(parts, over, nowMs)
  await keep(parts, missing)
}

/** A sweep that died on the way has written records and not what they hold. */
const withConditions = ({ hosts, isSweeping }: FleetRecord): string[] =>
  Object.entries(hosts).flatMap(([key, { conditions }]) => (isSweeping || conditions > 0 ? [key] : []))

/** Ends what the store knows to be over. Where the store lost it and began anew, nobody has heard of that end yet. */
const endOver = async (parts: Parts, over: readonly Episode[], nowMs: number): Promise<void> => {
  const endedAtMs = parts.clock.now()
  const ended = over.map(({ hostKey, condition }) => ({ hostKey, condition: afterEnd(condition), endedAtMs }))
  const last = ended.map(({ hostKey, condition }) => lastNotice(condition, endedAtMs, { hostKey, nowMs }))
  try {
    await notifyAgain(parts.store, await missedOf(parts, last))
  } catch (error) {
    return parts.telemetry.log.warn({ err: error }, 'episodes that are over could not be ended')
  }
  await keep(parts, ended)
}

const keep = async (
  { episodes, telemetry: { log } }: Parts,
  some: readonly Episode[],
  happenings: readonly Happening[] = [],
): Promise<void> => {
  if (some.length + happenings.length === 0) return
  await episodes
    .write(some, happenings)
    .catch((error: unknown) => log.warn({ err: error }, 'episodes could not be kept'))
}

/** Nothing is ended before what a store lost has been brought back to it. */
export const reconcileEvents = async (parts: Parts, settled: readonly Settled[]): Promise<void> => {
  const { log } = parts.telemetry
  await rebuildEvents(parts)
  try {
    await reconcileOpen(parts, settled)
    await notifyMissedEnds(parts)
  } catch (error) {
    log.warn({ err: error }, 'conditions of inbound events could not be brought to one account')
  }
}

const isKnown = ({ conditions }: HostRecord, episode: string): boolean =>
  Object.values(conditions).some((condition) => condition.episode === episode)

/** The record itself when nothing differs. */
export const reconciled = (
  known: HostRecord | undefined,
  open: readonly Episode[],
  saidOf: ReadonlyMap<string, Settled>,
): HostRecord | undefined => {
  if (!known && open.length === 0) return undefined
  const record = known ?? {
    ...emptyRecord,
    conditions: Object.fromEntries(open.map(({ condition }) => [condition.ruleId, condition])),
  }
  const changed = Object.values(record.conditions).flatMap((condition) => {
    const { acknowledged = null, dismissed = null } = saidOf.get(condition.episode) ?? {}
    const said = { acknowledged, dismissed }
    return sameSilences(condition, said) ? [] : [{ ...condition, ...said }]
  })
  if (changed.length === 0) return record
  const after = Object.fromEntries(changed.map((condition) => [condition.ruleId, condition]))
  return { ...record, conditions: { ...record.conditions, ...after } }
}
