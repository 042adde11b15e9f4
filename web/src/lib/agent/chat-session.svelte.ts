import { createQuery, useQueryClient } from '@tanstack/svelte-query'
import { onDestroy } from 'svelte'
import { modelGatewaysQuery } from '#lib/api/agent.ts'
import { createActionRunner } from '#lib/api/attempt.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'
import { createRandomId } from '#lib/ui/random-id.ts'
import { Chat } from './chat.svelte.ts'
import {
  conversationBackendQuery,
  browserConversations,
  conversationsKey,
  serverConversations,
} from './conversations.ts'

/**
 * A conversation with its model and storage backend. It is saved when a question is sent and when its answer ends. The
 * session stops reading the answer when the component that created it is destroyed.
 */
export class ChatSession {
  /** The selected model; null selects the default. */
  model = $state<string | null>(null)
  readonly check = createQuery(() => modelGatewaysQuery())
  readonly backend = createQuery(() => conversationBackendQuery())
  readonly store = $derived(this.backend.data?.backend === 'browser' ? browserConversations : serverConversations)
  readonly chat: Chat
  readonly #client = useQueryClient()
  readonly #attempt = createActionRunner()
  /** Id of the conversation requested last. Other conversations that finish loading later are discarded. */
  #wanted: string | null = null

  constructor() {
    this.chat = new Chat((id, messages, context) => {
      const conversation = { id, messages: [...messages], hostId: context.host, model: context.model }
      void this.#attempt.run(() => this.store.save(conversation).then(this.#renew))
    })
    onDestroy(this.chat.leave)
  }

  /** Whether the storage backend is known. */
  get isReady(): boolean {
    return this.backend.data !== undefined
  }

  /** The error message of the last load or save; null if it succeeded. */
  get failure(): string | null {
    return this.#attempt.failure
  }

  /** Shows the conversation with this id, or a new one for null. */
  show(id: string | null): void {
    this.#wanted = id
    if (id === null) this.chat.open(createRandomId(), [], { host: view.host, model: this.model })
    else if (id !== this.chat.id) void this.#attempt.run(() => this.#load(id))
  }

  /** Deletes a conversation and returns whether that succeeded. */
  remove(id: string): Promise<boolean> {
    return this.#attempt.run(() => this.store.remove(id).then(this.#renew))
  }

  #renew = () => this.#client.invalidateQueries({ queryKey: conversationsKey })

  async #load(id: string): Promise<void> {
    const stored = await this.store.load(id)
    if (id !== this.#wanted) return
    if (stored) this.model = stored.model
    else this.#attempt.say('This conversation is not stored here. Send a question to start a new one.')
    this.chat.open(id, stored?.messages ?? [], { host: view.host, model: this.model })
  }
}
