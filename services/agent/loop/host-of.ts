import type { Host } from '#proto/host.ts'
import { noSuchHost } from '#shared/text/no-such.ts'
import type { Talk } from './talk.ts'

/** The host at a position, or the one that the conversation is about; throws `not-found` for none. */
export const hostOf = async (
  { question, asking }: Pick<Talk, 'question' | 'asking'>,
  hostId: unknown,
): Promise<Host> => {
  const { hostKey, hostId: own } = question
  const hosts = await asking.hosts()
  const host = hosts.find(({ id, key }) => (hostId === undefined ? key === hostKey : id === hostId))
  if (host) return host
  // A connection of the caller's own is in no list.
  if (hostId === undefined || hostId === own) {
    return { id: own, key: hostKey, name: 'your connection', host: '', group: null, tags: [] }
  }
  throw noSuchHost(String(hostId), hosts)
}
