import type { ConversationSummary } from '#proto/conversations.ts'
import type { HostList } from '../hosts/host-list.ts'

/** How callers see conversations: keys of hosts stay inside, as callers know hosts by their position and name. */
export const showing = async (hosts: HostList) => {
  const byKey = new Map((await hosts.all()).map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return <T extends ConversationSummary>({ hostKey, ...conversation }: T) => ({
    ...conversation,
    ...(byKey.get(hostKey ?? '') ?? { hostId: null, host: null }),
  })
}
