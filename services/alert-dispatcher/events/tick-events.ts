import { read } from '#shared/config/setting.ts'
import { inLanes } from '../in-lanes.ts'
import type { Parts } from '../parts.ts'
import type { Policy } from '../policy.ts'
import type { Turn } from '../sweep-lease.ts'
import { withdrawn } from '../conditions/transition.ts'
import { afterTime } from './entry.ts'
import { openPlaces, OpenCounts, countsKey, entryAt, openIn } from './places.ts'
import { type EventEntry, followedEntry, mostOpen, overflowPlace } from './record.ts'
import { rebuildEvents } from './rebuild.ts'
import { eventAlertSettings } from './settings.ts'
import { tellEntry, type Changed, type Written, asItIs, settle, writeEntry } from './write.ts'

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
