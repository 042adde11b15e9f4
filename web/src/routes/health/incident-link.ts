import { view } from '#lib/state/view.svelte.ts'

/** Returns the link to the incident page of an episode. */
export const getIncidentLink = ({
  episode,
  hostId,
  sinceMs,
}: {
  episode: string
  hostId: number
  sinceMs: number
}): string => view.link(`/incidents/${encodeURIComponent(episode)}`, { host: String(hostId), since: String(sinceMs) })
