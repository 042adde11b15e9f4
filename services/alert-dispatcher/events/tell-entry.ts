import { beginningOf } from '#shared/cut.ts'
import type { Condition, Happening } from '../conditions/condition.ts'
import type { Telling } from '../conditions/held.ts'
import type { Notice } from '../notice.ts'
import { heldUntilNow, tell } from '../conditions/tell.ts'
import type { EventEpisode } from './event-episode.ts'
import type { EventEntry } from './record.ts'

/** What is told about one entry now, and what it leaves. */
export interface ToldEntry {
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
