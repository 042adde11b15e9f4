import { instant } from '#shared/time/clock.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { Fence } from '#shared/store/store.ts'
import type { Happening, Condition } from '../conditions/condition.ts'
import type { Telling } from '../conditions/held.ts'
import { heldUntilNow, tell } from '../conditions/tell.ts'
import { asMessage, type Notice } from '../notice.ts'
import type { Parts } from '../parts.ts'
import { listEntries } from './places.ts'
import { type EventEpisode, EventEntry, entryKey, followedEntry, isRemembered, rememberedMs } from './record.ts'

/** What stores and history the events are written to. */
export type Writing = Pick<
  Parts,
  'store' | 'clock' | 'policy' | 'episodes' | 'eventEpisodes' | 'isLasting' | 'isMissed' | 'observe' | 'telemetry'
>

/** What an entry is to become before it is told; `stays` changes nothing, and what goes is not remembered. */
export type Changed = EventEntry | 'stays' | 'goes'

/** One entry as it was written, and what came of that. */
export interface Written {
  place: string
  /** Undefined when there is none any more. */
  entry: EventEntry | undefined
  notices: readonly Notice[]
  happenings: readonly Happening[]
  episodes: readonly EventEpisode[]
}

/** An entry of which nothing is to be told. */
export const asItIs = (place: string, entry: EventEntry | undefined): Written => ({
  place,
  entry,
  notices: [],
  happenings: [],
  episodes: [],
})

/** Changes one entry in one step together with what is to be told of it; `settle` does the rest. Undefined when it stays. */
export const writeEntry = async (
  { store, clock, policy: current }: Writing,
  place: string,
  change: (entry: EventEntry | undefined, nowMs: number) => Changed,
  fence?: Fence,
): Promise<Written | undefined> => {
  const [policy, nowMs] = [await current(), instant(clock)]
  let told: ToldEntry | undefined
  let stays = false
  const entry = await store.update(
    entryKey(place),
    EventEntry,
    (stored) => {
      const before = stored && followedEntry(stored, clock)
      const changed = change(before && isRemembered(before, nowMs) ? before : undefined, nowMs)
      stays = changed === 'stays'
      told = typeof changed === 'object' ? tellEntry(changed, { policy, nowMs }) : undefined
      if (!told) return stays ? undefined : { value: undefined }
      const { entry, notices } = told
      if (!isRemembered(entry, nowMs)) return { value: undefined, outbox: notices.map(asMessage) }
      const expiry = entry.condition === null ? { expiresInMs: rememberedMs } : {}
      return { value: entry, outbox: notices.map(asMessage), ...expiry }
    },
    fence,
  )
  if (stays) return undefined
  if (!told) return asItIs(place, entry)
  const { notices, happenings, episodes } = told
  return { place, entry, notices, happenings, episodes: episodes.map((episode) => ({ ...episode, place })) }
}

/** Brings lists, figures and history up to date with entries that were written. */
export const settle = async (
  { store, episodes, eventEpisodes, observe }: Writing,
  written: readonly Written[],
): Promise<void> => {
  // Of those that were written more than once the last one stands.
  await listEntries(store, new Map(written.map(({ place, entry }) => [place, entry])))
  const happenings = written.flatMap((each) => each.happenings)
  observe.told({ notices: written.flatMap((each) => each.notices), happenings })
  if (happenings.length === 0) return
  const kept = written.flatMap((each) => each.episodes)
  const keeping = Promise.all([episodes.write([], happenings), eventEpisodes.write(kept)])
  await keeping.then(observe.history.worked, observe.history.failed)
}

/** What is told about one entry now, and what it leaves. */
interface ToldEntry {
  entry: EventEntry
  notices: Notice[]
  happenings: Happening[]
  /** What the times of being open have become by it. */
  episodes: Omit<EventEpisode, 'place'>[]
}

/** Tells what is due of an entry as of a condition on a host: floors, maintenance, quiet hours and reminders are the same. */
export const tellEntry = (entry: EventEntry, telling: Omit<Telling, 'hostKey'>): ToldEntry => {
  const { condition, source } = entry
  if (condition === null) return { entry, notices: [], happenings: [], episodes: [] }
  const { conditions, notices, happenings, episodes } = tell(
    { [condition.ruleId]: condition },
    { ...telling, hostKey: source },
  )
  return {
    episodes: episodes.map(({ condition, endedAtMs }) => ({ entry: { ...entry, condition }, endedAtMs })),
    entry: { ...entry, condition: conditions[condition.ruleId] ?? null },
    notices: notices.map((notice) => ({
      ...notice,
      hostKey: null,
      source,
      reason: reasonOf(notice, condition),
    })),
    happenings: happenings.map((happening) => ({
      ...happening,
      hostKey: null,
      reason: reasonOf(happening, condition),
      title: beginningOf(`${happening.title}, from ${source}`, longestTitle),
    })),
  }
}

const longestTitle = 300

/** In words that speak of no sweeps. */
const reasonOf = (
  { kind, reason }: Pick<Notice | Happening, 'kind' | 'reason'>,
  { held, clears }: Condition,
): string => {
  if (kind === 'recover') return clears > 0 ? 'its source says that it is over' : 'nothing more was heard of it'
  return kind === 'fire' ? heldUntilNow('its source says so', held) : reason
}
