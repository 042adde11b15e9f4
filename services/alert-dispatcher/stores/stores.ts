import { z } from 'zod'
import type { HistoryEntry, Silence } from '#proto/alert-history.ts'
import { ServiceError } from '#proto/errors.ts'
import { maxTargets } from '../channels/webhook-target-list.ts'
import type { Episodes, Settled } from '../conditions/condition.ts'
import type { EventEpisodes } from '../events/record.ts'

/** What the dispatcher keeps beside its live state: in the state database, or in memory where there is none. */
export interface Stores {
  /** False in memory, which a restart empties; acknowledgements and settings are refused then. */
  readonly lasting: boolean
  readonly episodes: KeptEpisodes
  readonly eventEpisodes: EventEpisodes
  readonly history: History
  readonly silences: Silences
  readonly policy: PolicyStore
}

export interface KeptEpisodes extends Episodes {
  /** Removes those that ended before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** So many episodes that ended are read at once. */
export const mostEnded = 1_000

/** Which lines of the history are wanted, the newest first. */
interface HistoryFilter {
  hostKey?: string | undefined
  /** From the first of these times, up to and without the second. */
  fromMs?: number | undefined
  toMs?: number | undefined
  limit: number
}

/** What became of episodes, as `episodes.write` adds it. */
export interface History {
  list(filter: HistoryFilter): Promise<HistoryEntry[]>
  prune(beforeMs: number): Promise<number>
}

export interface Silences {
  /** One of a kind for each episode: a later one replaces it. */
  put(silence: Silence): Promise<void>
  /** Those whose episode is not known to have ended. */
  list(): Promise<Silence[]>
  /** False when there was none. */
  remove(kind: Silence['kind'], episode: string): Promise<boolean>
  /** Removes those whose time was over before, and those that began before and whose episode does not go on. */
  prune(beforeMs: number): Promise<number>
}

/** What operators settle through the API. */
export type PolicyKind =
  | 'general'
  | 'digest'
  | 'rule'
  | 'channel'
  | 'custom-rule'
  | 'maintenance-window'
  | 'quiet-hours'
  | 'route'
  | 'webhook-target'

/** One thing settled; `body` is checked by whoever reads it. */
export interface PolicyEntry {
  kind: string
  id: string
  body: unknown
}

/** More of one kind than anybody would write; keeps the policy small enough to be read whole. */
export const mostOfAKind = 200

/** Whether an entry must be there already when it is written, or must not be. */
export type Standing = 'present' | 'absent'

export interface PolicyStore {
  all(): Promise<PolicyEntry[]>
  /**
   * False, and nothing changes, where it must stand here or must not, and somebody else has just removed or added it.
   * Throws `conflict` where it does not go with the others of its kind (`fits.ts`).
   */
  put(kind: PolicyKind, id: string, body: unknown, atMs: number, standing?: Standing): Promise<boolean>
  /** False when there was none. */
  remove(kind: PolicyKind, id: string): Promise<boolean>
}

/** Kinds of which there are fewer. */
const mostOf: Readonly<Partial<Record<PolicyKind, number>>> = { 'webhook-target': maxTargets }

/** Throws `conflict` for an entry that does not go with the others of its kind: they are too many, or one has the name that routes know it by. */
export const requireFits = (kind: PolicyKind, body: unknown, others: readonly Pick<PolicyEntry, 'body'>[]): void => {
  const most = mostOf[kind] ?? mostOfAKind
  if (others.length >= most)
    throw new ServiceError('conflict', `there are ${most} entries of the kind ${kind} already; remove one first`)
  const name = kind === 'webhook-target' ? nameOf(body) : undefined
  if (name === undefined || others.every((other) => nameOf(other.body) !== name)) return
  const details = { parameter: 'name' }
  throw new ServiceError('conflict', `there is a webhook target with the name ${name} already`, { details })
}

const Named = z.object({ name: z.string() })

const nameOf = (body: unknown): string | undefined => Named.safeParse(body).data?.name

/** What silences come to for each of their episodes. */
export const settledBy = (silences: readonly Silence[]): Settled[] => {
  const byEpisode = new Map<string, Settled>()
  for (const { kind, episode, untilMs } of silences) {
    const known = byEpisode.get(episode) ?? { episode, acknowledged: null, dismissed: null }
    byEpisode.set(episode, { ...known, [kind === 'ack' ? 'acknowledged' : 'dismissed']: { untilMs } })
  }
  return [...byEpisode.values()]
}
