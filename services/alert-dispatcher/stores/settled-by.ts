import type { Silence } from '#proto/alert-history.ts'
import type { Settled } from '../conditions/episode.ts'

/** What silences come to for each of their episodes. */
export const settledBy = (silences: readonly Silence[]): Settled[] => {
  const byEpisode = new Map<string, Settled>()
  for (const { kind, episode, untilMs } of silences) {
    const known = byEpisode.get(episode) ?? { episode, acknowledged: null, dismissed: null }
    byEpisode.set(episode, { ...known, [kind === 'ack' ? 'acknowledged' : 'dismissed']: { untilMs } })
  }
  return [...byEpisode.values()]
}
