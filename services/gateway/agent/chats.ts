import { hash } from 'node:crypto'
import { AgentRunId } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { Store } from '#shared/store/store.ts'
import { ownerOf } from '../connections/user-connections.ts'

/** The latest run of each chat, so that a client can reconnect by its own chat id. */
export interface Chats {
  store(chatId: string, identity: Identity, runId: string): Promise<void>
  /** Returns the run for a run id or a chat id; undefined when there is no recent run. */
  runOf(id: string, identity: Identity): Promise<string | undefined>
}

/** Longer than a run plus the retention of its events. */
const retentionMs = 15 * 60_000

export const openChats = (store: Store): Chats => ({
  store: async (chatId, identity, runId) => {
    await store.update(keyOf(chatId, identity), AgentRunId, () => ({ value: runId, expiresInMs: retentionMs }))
  },
  runOf: async (id, identity) => {
    const run = AgentRunId.safeParse(id)
    return run.success ? run.data : store.get(keyOf(id, identity), AgentRunId)
  },
})

/** Chat ids are chosen by callers, so two callers may use the same one. */
const keyOf = (chatId: string, identity: Identity): string =>
  `gateway:chat:${ownerOf(identity)}:${hash('sha256', chatId, 'base64url')}`
