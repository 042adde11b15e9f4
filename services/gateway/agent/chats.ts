import { hash } from 'node:crypto'
import { AgentRunId } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { Store } from '#shared/store/store.ts'
import { ownerOf } from '../connections/user-connections.ts'

/** The latest run of each chat, so that a client finds its answer again by the name it gave the chat. */
export interface Chats {
  keep(chatId: string, identity: Identity, runId: string): Promise<void>
  /** The run of an id that is a run's or a chat's; undefined when there is none of late. */
  runOf(id: string, identity: Identity): Promise<string | undefined>
}

/** Longer than a run and the time that its events are kept. */
const keptMs = 15 * 60_000

export const openChats = (store: Store): Chats => ({
  keep: async (chatId, identity, runId) => {
    await store.update(keyOf(chatId, identity), AgentRunId, () => ({ value: runId, expiresInMs: keptMs }))
  },
  runOf: async (id, identity) => {
    const run = AgentRunId.safeParse(id)
    return run.success ? run.data : store.get(keyOf(id, identity), AgentRunId)
  },
})

/** Names of chats are the caller's own, and two callers may have the same. */
const keyOf = (chatId: string, identity: Identity): string =>
  `gateway:chat:${ownerOf(identity)}:${hash('sha256', chatId, 'base64url')}`
