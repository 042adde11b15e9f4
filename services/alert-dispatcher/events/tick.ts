import { read } from '#shared/config/setting.ts'
import { inLanes } from '../sweeps/lanes.ts'
import type { Parts } from '../parts.ts'
import type { Policy } from '../policy/policy.ts'
import type { Turn } from '../sweeps/turn.ts'
import { withdrawn } from '../conditions/transition.ts'
import { afterTime, pruned } from './entry.ts'
import {
  type EventEntry,
  EventIndex,
  EventRecord,
  indexKey,
  mostOpen,
  openIn,
  overflowName,
  recordKey,
} from './record.ts'
import { rebuildEvents } from './rebuild.ts'
import { eventAlertSettings } from './settings.ts'
import { tellEntry } from './tell-entry.ts'
import { writeRecord } from './write.ts'

const recordsAtOnce = 16
const hourMs = 60 * 60_000

/** What time alone brings about for inbound events: their end, reminders, and what was held until now. */
export const tickEvents = async (
  parts: Parts,
  { fence }: Turn,
  { policy, nowMs, most = mostOpen }: { policy: Policy; nowMs: number; most?: number },
): Promise<void> => {
  await rebuildEvents(parts)
  const index = (await parts.store.get(indexKey, EventIndex)) ?? {}
  const lifeMs = read(eventAlertSettings, parts.env).SVC_EVENTS_ALERTS_HOURS * hourMs
  const hasRoom = openIn(index) < most
  await inLanes(Object.keys(index), recordsAtOnce, async (name) => {
    const after = (entry: EventEntry, now: number): EventEntry =>
      name === overflowName && hasRoom ? over(entry) : afterTime(entry, { nowMs: now, lifeMs })
    const known = (await parts.store.get(recordKey(name), EventRecord))?.entries ?? {}
    const isDue = Object.values(known).some((entry) => {
      const next = after(entry, nowMs)
      return next !== entry || tellEntry(next, { policy, nowMs }).happenings.length > 0
    })
    // A record of which nothing is due is not written.
    if (!isDue && pruned(known, nowMs) === known && Object.keys(known).length > 0) return
    await writeRecord(
      parts,
      name,
      (entries, now) =>
        Object.fromEntries(
          Object.entries(entries).flatMap(([id, entry]) => {
            const next = after(entry, now)
            // What ended by itself is not remembered: the same event, sent again, begins it anew.
            return next.condition === null && next !== entry ? [] : [[id, next]]
          }),
        ),
      fence,
    )
  })
}

/** There is room again, so nothing stands for what found none. */
const over = (entry: EventEntry): EventEntry =>
  entry.condition === null || entry.condition.phase === 'cleared'
    ? entry
    : { ...entry, condition: withdrawn(entry.condition) ?? null }
