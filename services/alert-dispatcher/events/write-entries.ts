import { recordInstant } from '#shared/time/clock.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { Fence } from '#shared/store/store.ts'
import type { Transition, Condition } from '../conditions/condition.ts'
import type { NotifyContext } from '../conditions/hold-reasons.ts'
import { describeHold, collectDueNotifications } from '../conditions/notify.ts'
import { toOutboxMessage, type Notification } from '../notification.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import { updateEventBuckets } from './event-buckets.ts'
import {
  type EventEpisode,
  EventEntry,
  getEventEntryKey,
  adjustEntry,
  isEntryRetained,
  closedEntryTtlMs,
} from './event-entry.ts'

/** Dependencies of writing entries. */
export type WriteDeps = Pick<
  DispatcherDeps,
  'store' | 'clock' | 'policy' | 'episodes' | 'eventEpisodes' | 'isPersistent' | 'isMissed' | 'observe' | 'telemetry'
>

/** The new state of an entry before notifications; `unchanged` keeps it, `deleted` deletes it. */
export type EntryChange = EventEntry | 'unchanged' | 'deleted'

/** A written entry with its notifications and history. */
export interface WrittenEntry {
  place: string
  /** The written entry; undefined if it was deleted. */
  entry: EventEntry | undefined
  notifications: readonly Notification[]
  transitions: readonly Transition[]
  episodes: readonly EventEpisode[]
}

/** Returns the result for an entry that was not written: no notifications, transitions or episodes. */
export const toUnchangedEntry = (place: string, entry: EventEntry | undefined): WrittenEntry => ({
  place,
  entry,
  notifications: [],
  transitions: [],
  episodes: [],
})

/**
 * Writes one entry together with its notifications; returns undefined if it stays unchanged. `finishWrites` then
 * updates buckets, metrics and history. `change` receives no entry that closed longer ago than `closedEntryTtlMs`;
 * `isStored` is true if the store still has it.
 */
export const writeEntry = async (
  { store, clock, policy: current }: WriteDeps,
  place: string,
  change: (entry: EventEntry | undefined, nowMs: number, isStored: boolean) => EntryChange,
  fence?: Fence,
): Promise<WrittenEntry | undefined> => {
  const [policy, nowMs] = [await current(), recordInstant(clock)]
  let notified: NotifiedEntry | undefined
  let stays = false
  const entry = await store.update(
    getEventEntryKey(place),
    EventEntry,
    (stored) => {
      const before = stored && adjustEntry(stored, clock)
      const changed = change(before && isEntryRetained(before, nowMs) ? before : undefined, nowMs, before !== undefined)
      stays = changed === 'unchanged'
      notified = typeof changed === 'object' ? collectEntryNotifications(changed, { policy, nowMs }) : undefined
      if (!notified) return stays ? undefined : { value: undefined }
      const { entry, notifications } = notified
      if (!isEntryRetained(entry, nowMs)) return { value: undefined, outbox: notifications.map(toOutboxMessage) }
      const expiry = entry.condition === null ? { expiresInMs: closedEntryTtlMs } : {}
      return { value: entry, outbox: notifications.map(toOutboxMessage), ...expiry }
    },
    fence,
  )
  if (stays) return undefined
  if (!notified) return toUnchangedEntry(place, entry)
  const { notifications, transitions, episodes } = notified
  return { place, entry, notifications, transitions, episodes: episodes.map((episode) => ({ ...episode, place })) }
}

/** Updates buckets, metrics and history after entries were written. */
export const finishWrites = async (
  { store, episodes, eventEpisodes, observe }: WriteDeps,
  written: readonly WrittenEntry[],
): Promise<void> => {
  // If an entry was written more than once, the last state applies.
  await updateEventBuckets(store, new Map(written.map(({ place, entry }) => [place, entry])))
  const transitions = written.flatMap((each) => each.transitions)
  observe.notified({ notifications: written.flatMap((each) => each.notifications), transitions })
  if (transitions.length === 0) return
  const changedEpisodes = written.flatMap((each) => each.episodes)
  const writes = Promise.all([episodes.write([], transitions), eventEpisodes.write(changedEpisodes)])
  await writes.then(observe.history.worked, observe.history.failed)
}

/** An entry after its due notifications. */
interface NotifiedEntry {
  entry: EventEntry
  notifications: Notification[]
  transitions: Transition[]
  /** Changed episodes, without the hash of their entry, which `writeEntry` adds. */
  episodes: Omit<EventEpisode, 'place'>[]
}

/**
 * Collects the due notifications of an entry as for a host condition: minimum severity, maintenance, quiet hours and
 * reminders apply.
 */
export const collectEntryNotifications = (
  entry: EventEntry,
  context: Omit<NotifyContext, 'hostKey'>,
): NotifiedEntry => {
  const { condition, source } = entry
  if (condition === null) return { entry, notifications: [], transitions: [], episodes: [] }
  const { conditions, notifications, transitions, episodes } = collectDueNotifications(
    { [condition.ruleId]: condition },
    { ...context, hostKey: source },
  )
  return {
    episodes: episodes.map(({ condition, endedAtMs }) => ({ entry: { ...entry, condition }, endedAtMs })),
    entry: { ...entry, condition: conditions[condition.ruleId] ?? null },
    notifications: notifications.map((notification) => ({
      ...notification,
      hostKey: null,
      source,
      reason: describeReason(notification, condition),
    })),
    transitions: transitions.map((transition) => ({
      ...transition,
      hostKey: null,
      reason: describeReason(transition, condition),
      title: shortenText(`${transition.title}, from ${source}`, maxTitleLength),
    })),
  }
}

const maxTitleLength = 300

/** Returns the reason in terms of events instead of sweeps. */
const describeReason = (
  { kind, reason }: Pick<Notification | Transition, 'kind' | 'reason'>,
  { held, clears }: Condition,
): string => {
  if (kind === 'recover') return clears > 0 ? 'resolved by its source' : 'expired: its source sent no further event'
  return kind === 'fire' ? describeHold('reported by its source', held) : reason
}
