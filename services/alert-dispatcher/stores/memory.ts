import type { HistoryEntry, Silence } from '#proto/alert-history.ts'
import type { Episode } from '../conditions/condition.ts'
import type { EventEpisode, EventEpisodes } from '../events/record.ts'
import {
  requireFits,
  settledBy,
  type History,
  type KeptEpisodes,
  type PolicyEntry,
  type PolicyStore,
  type Silences,
  type Stores,
} from './stores.ts'

const mostLines = 10_000
const mostEpisodes = 10_000

/** Kept by this process alone; a restart forgets it. */
export const memoryStores = (): Stores => {
  const episodes = new Map<string, Episode>()
  const lines = new Map<string, HistoryEntry>()
  const events = new Map<string, EventEpisode>()
  const silences = memorySilences((id) => (episodes.get(id) ?? events.get(id))?.endedAtMs)
  return {
    lasting: false,
    episodes: memoryEpisodes(episodes, lines, silences),
    eventEpisodes: memoryEventEpisodes(events),
    history: memoryHistory(lines),
    silences,
    policy: memoryPolicy(),
  }
}

const memoryEpisodes = (
  episodes: Map<string, Episode>,
  lines: Map<string, HistoryEntry>,
  silences: Silences,
): KeptEpisodes => ({
  open: async () => structuredClone([...episodes.values()].filter(({ endedAtMs }) => endedAtMs === null)),
  async write(changed, happenings) {
    for (const episode of changed) {
      const known = episodes.get(episode.condition.episode)
      if (known === undefined || isLater(episode, known)) {
        episodes.set(episode.condition.episode, structuredClone(episode))
      }
    }
    for (const line of happenings) if (!lines.has(line.id)) lines.set(line.id, { ...line })
    forgetOldest(episodes, mostEpisodes)
    forgetOldest(lines, mostLines)
  },
  settled: async () => settledBy(await silences.list()),
  prune: async (beforeMs) => removeWhere(episodes, ({ endedAtMs }) => endedAtMs !== null && endedAtMs < beforeMs),
})

/** The end is final, and a write that comes late changes nothing. */
const isLater = (written: Omit<Episode, 'hostKey'>, known: Omit<Episode, 'hostKey'>): boolean =>
  written.condition.sequence >= known.condition.sequence && (known.endedAtMs === null || written.endedAtMs !== null)

const memoryEventEpisodes = (events: Map<string, EventEpisode>): EventEpisodes => ({
  open: async () => structuredClone([...events.values()].filter(({ endedAtMs }) => endedAtMs === null)),
  async write(changed) {
    for (const episode of changed) {
      const { condition } = episode.entry
      const known = events.get(condition.episode)
      if (known && !isLater({ ...episode, condition }, { ...known, condition: known.entry.condition })) continue
      events.set(condition.episode, structuredClone(episode))
    }
    forgetOldest(events, mostEpisodes)
  },
  prune: async (beforeMs) => removeWhere(events, ({ endedAtMs }) => endedAtMs !== null && endedAtMs < beforeMs),
})

const memoryHistory = (lines: Map<string, HistoryEntry>): History => ({
  async list({ hostKey, fromMs = -Infinity, toMs = Infinity, limit }) {
    const wanted = [...lines.values()].filter(
      (line) => line.atMs >= fromMs && line.atMs < toMs && (hostKey === undefined || line.hostKey === hostKey),
    )
    return wanted.toSorted((one, other) => other.atMs - one.atMs || (one.id < other.id ? -1 : 1)).slice(0, limit)
  },
  prune: async (beforeMs) => removeWhere(lines, ({ atMs }) => atMs < beforeMs),
})

/** `endedAtMs` of an episode: null while it goes on, undefined when nothing is known of it. */
const memorySilences = (endedAtMs: (episode: string) => number | null | undefined): Silences => {
  const silences = new Map<string, Silence>()
  return {
    async put(silence) {
      silences.set(`${silence.kind} ${silence.episode}`, silence)
    },
    list: async () =>
      [...silences.values()]
        // What is not known has not ended.
        .filter(({ episode }) => (endedAtMs(episode) ?? null) === null)
        .toSorted((one, other) => one.atMs - other.atMs),
    remove: async (kind, episode) => silences.delete(`${kind} ${episode}`),
    prune: async (beforeMs) =>
      removeWhere(silences, ({ episode, atMs, untilMs }) =>
        untilMs === null ? atMs < beforeMs && endedAtMs(episode) !== null : untilMs < beforeMs,
      ),
  }
}

const memoryPolicy = (): PolicyStore => {
  const entries = new Map<string, PolicyEntry>()
  return {
    all: async () => structuredClone([...entries.values()]),
    async put(kind, id, body, _atMs, standing) {
      if (standing !== undefined && entries.has(`${kind} ${id}`) !== (standing === 'present')) return false
      const others = [...entries.values()].filter((entry) => entry.kind === kind && entry.id !== id)
      requireFits(kind, body, others)
      entries.set(`${kind} ${id}`, { kind, id, body: structuredClone(body) })
      return true
    },
    remove: async (kind, id) => entries.delete(`${kind} ${id}`),
  }
}

const removeWhere = <T>(entries: Map<string, T>, isUnwanted: (entry: T) => boolean): number => {
  const unwanted = [...entries].filter(([, entry]) => isUnwanted(entry))
  for (const [key] of unwanted) entries.delete(key)
  return unwanted.length
}

const forgetOldest = (entries: Map<string, unknown>, most: number): void => {
  for (const key of entries.keys()) {
    if (entries.size <= most) return
    entries.delete(key)
  }
}
