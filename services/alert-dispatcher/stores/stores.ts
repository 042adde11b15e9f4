import { z } from 'zod'
import type { AlertHistoryEntry, Silence } from '#proto/alert-history.ts'
import { maxSqlRules } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import { maxWebhookTargets } from '../channels/webhook-target-list.ts'
import type { Episodes, EpisodeSilences } from '../conditions/condition.ts'
import type { EventEpisodes } from '../events/event-entry.ts'

/** Data that the dispatcher stores besides its live state: in the state database, or in memory without one. */
export interface DispatcherStores {
  /**
   * Whether the data survives a restart. If it does not, acknowledgements and configuration changes are rejected.
   */
  readonly isPersistent: boolean
  readonly episodes: EpisodeStore
  readonly eventEpisodes: EventEpisodes
  readonly history: AlertHistoryStore
  readonly silences: SilenceStore
  readonly policy: PolicyStore
}

/** Episodes of hosts, with deletion of old ones. */
export interface EpisodeStore extends Episodes {
  /** Deletes episodes that ended before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Maximum number of ended episodes per query. */
export const maxEndedEpisodes = 1_000

/** Filter for history entries, which are returned newest first. */
interface HistoryFilter {
  hostKey?: string | undefined
  /** Time range in epoch milliseconds: `fromMs` inclusive, `toMs` exclusive. */
  fromMs?: number | undefined
  toMs?: number | undefined
  limit: number
}

/** The alert history; `episodes.write` appends to it. */
export interface AlertHistoryStore {
  list(filter: HistoryFilter): Promise<AlertHistoryEntry[]>
  /** Deletes entries from before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Acknowledgements and dismissals of episodes. */
export interface SilenceStore {
  /** Stores a silence; a later one of the same kind replaces it. */
  put(silence: Silence): Promise<void>
  /** Returns silences whose episode has not ended or is unknown. */
  list(): Promise<Silence[]>
  /** Removes a silence; returns whether it existed. */
  remove(kind: Silence['kind'], episode: string): Promise<boolean>
  /**
   * Deletes silences that expired before the given time, and older ones whose episode is no longer open. Returns their
   * number.
   */
  prune(beforeMs: number): Promise<number>
}

/** Kinds of alert configuration that the API can change. */
export type PolicyKind =
  | 'general'
  | 'digest'
  | 'rule'
  | 'channel'
  | 'custom-rule'
  | 'sql-rule'
  | 'maintenance-window'
  | 'quiet-hours'
  | 'route'
  | 'webhook-target'

/** A stored configuration entry; readers validate `body`. */
export interface PolicyEntry {
  kind: string
  id: string
  body: unknown
}

/** Maximum number of entries per kind, so that the whole configuration can be read at once. */
export const maxEntriesPerKind = 200

/** Whether the entry must exist or must not exist when it is written. */
export type ExpectedState = 'present' | 'absent'

/** Alert configuration that was saved through the API. */
export interface PolicyStore {
  all(): Promise<PolicyEntry[]>
  /**
   * Inserts or replaces an entry; returns whether it did. Does nothing if `expected` does not hold after a concurrent
   * change. Throws `conflict` if the kind has too many entries or the name is taken.
   */
  put(kind: PolicyKind, id: string, body: unknown, atMs: number, expected?: ExpectedState): Promise<boolean>
  /** Removes an entry; returns whether it existed. */
  remove(kind: PolicyKind, id: string): Promise<boolean>
}

/** Maximum number of entries for kinds with a smaller maximum than `maxEntriesPerKind`. */
const maxByKind: Readonly<Partial<Record<PolicyKind, number>>> = {
  'sql-rule': maxSqlRules,
  'webhook-target': maxWebhookTargets,
}

/** Throws `conflict` if there are too many entries of the kind, or if the name of a webhook target is taken. */
export const requireRoomAndUniqueName = (
  kind: PolicyKind,
  body: unknown,
  others: readonly Pick<PolicyEntry, 'body'>[],
): void => {
  const max = maxByKind[kind] ?? maxEntriesPerKind
  if (others.length >= max)
    throw new ServiceError('conflict', `too many entries of kind "${kind}": the maximum is ${max}; delete one first`)
  const name = kind === 'webhook-target' ? parseName(body) : undefined
  if (name === undefined || others.every((other) => parseName(other.body) !== name)) return
  const details = { parameter: 'name' }
  throw new ServiceError('conflict', `webhook target "${name}" already exists; choose another name`, { details })
}

const Named = z.object({ name: z.string() })

const parseName = (body: unknown): string | undefined => Named.safeParse(body).data?.name

/** Merges silences into one entry per episode. */
export const groupSilences = (silences: readonly Silence[]): EpisodeSilences[] => {
  const byEpisode = new Map<string, EpisodeSilences>()
  for (const { kind, episode, untilMs } of silences) {
    const known = byEpisode.get(episode) ?? { episode, acknowledged: null, dismissed: null }
    byEpisode.set(episode, { ...known, [kind === 'ack' ? 'acknowledged' : 'dismissed']: { untilMs } })
  }
  return [...byEpisode.values()]
}
