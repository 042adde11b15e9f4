import type { Conversation } from '#proto/conversations.ts'
import { cutPage, lastFirst, positionOf, summaryOf } from './cursor.ts'
import { type ConversationStore, mostConversations, type Place, wholeAtOnce } from './store.ts'
import { merged, tooMany } from './written.ts'

/** Of all conversations together, in characters as JSON; the ones changed longest ago go when there is no more room. */
const mostCharacters = 64 * 1024 * 1024

interface Held {
  owner: string
  conversation: Conversation
  characters: number
}

/** Kept by this process alone; a restart forgets all of it. */
export const memoryStore = ({ most = mostConversations, room = mostCharacters } = {}): ConversationStore => {
  const held = new Map<string, Held>()
  let used = 0
  const keyOf = (owner: string, id: string) => JSON.stringify([owner, id])
  const drop = (key: string): boolean => {
    used -= held.get(key)?.characters ?? 0
    return held.delete(key)
  }
  const dropAll = (isGone: (each: Held) => boolean): number =>
    [...held].filter(([key, each]) => isGone(each) && drop(key)).length
  const of = (owner: string) => [...held.values()].filter((each) => each.owner === owner)
  const found = (owner: string, { limit, cursor }: Place) => {
    const after = cursor === undefined ? undefined : positionOf(cursor)
    const sorted = of(owner).map(({ conversation }) => conversation)
    const rest = sorted.toSorted(lastFirst).filter((each) => after === undefined || lastFirst(after, each) < 0)
    return cutPage(rest, limit)
  }

  return {
    backend: 'memory',
    async list(owner, place) {
      const { conversations, next } = found(owner, place)
      return { conversations: conversations.map(summaryOf), next }
    },
    whole: async (owner, cursor) => structuredClone(found(owner, { limit: wholeAtOnce, cursor })),
    get: async (owner, id) => structuredClone(held.get(keyOf(owner, id))?.conversation),
    async put(owner, written) {
      const key = keyOf(owner, written.id)
      const present = held.get(key)?.conversation
      if (!present && of(owner).length >= most) throw tooMany(most)
      const conversation = structuredClone(merged(written, present))
      drop(key)
      const characters = JSON.stringify(conversation).length
      held.set(key, { owner, conversation, characters })
      used += characters
      for (const oldest of held.keys()) {
        if (used <= room || oldest === key) break
        drop(oldest)
      }
      return { created: present === undefined, conversation: summaryOf(conversation) }
    },
    async retitle(owner, id, from, to) {
      const conversation = held.get(keyOf(owner, id))?.conversation
      if (conversation?.title === from) conversation.title = to
    },
    remove: async (owner, id) => drop(keyOf(owner, id)),
    removeAll: async (owner) => dropAll((each) => each.owner === owner),
    prune: async (beforeMs) => dropAll(({ conversation }) => conversation.updatedAtMs < beforeMs),
    [Symbol.asyncDispose]: async () => undefined,
  }
}
