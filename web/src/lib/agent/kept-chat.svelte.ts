import { createQuery, useQueryClient } from '@tanstack/svelte-query'
import { onDestroy } from 'svelte'
import { configCheckQuery } from '#lib/api/agent.ts'
import { createAttempt } from '#lib/api/attempt.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'
import { randomId } from '#lib/ui/random-id.ts'
import { Chat } from './chat.svelte.ts'
import { backendQuery, browserConversations, conversationsKey, serverConversations } from './conversations.ts'

/** A conversation that is kept as it goes on, and what has to be known to have one. Made by a component, and left with it. */
export class KeptChat {
  /** The model that is asked; null is the usual one. */
  model = $state<string | null>(null)
  readonly check = createQuery(() => configCheckQuery())
  readonly backend = createQuery(() => backendQuery())
  readonly store = $derived(this.backend.data?.backend === 'browser' ? browserConversations : serverConversations)
  readonly chat: Chat
  readonly #client = useQueryClient()
  readonly #attempt = createAttempt()
  /** What was last asked to be shown, as loading takes a while. */
  #wanted: string | null = null

  constructor() {
    this.chat = new Chat((id, messages, asking) => {
      const conversation = { id, messages: [...messages], hostId: asking.host, model: asking.model }
      void this.#attempt.run(() => this.store.keep(conversation).then(this.#renew))
    })
    onDestroy(this.chat.leave)
  }

  /** Whether it is known where conversations are kept. */
  get isReady(): boolean {
    return this.backend.data !== undefined
  }

  /** What went wrong beside the answer. */
  get failure(): string | null {
    return this.#attempt.failure
  }

  /** Shows the conversation of this id; a new one without it. */
  show(id: string | null): void {
    this.#wanted = id
    if (id === null) this.chat.open(randomId(), [], { host: view.host, model: this.model })
    else if (id !== this.chat.id) void this.#attempt.run(() => this.#load(id))
  }

  /** Whether it is gone. */
  remove(id: string): Promise<boolean> {
    return this.#attempt.run(() => this.store.remove(id).then(this.#renew))
  }

  #renew = () => this.#client.invalidateQueries({ queryKey: conversationsKey })

  async #load(id: string): Promise<void> {
    const kept = await this.store.load(id)
    if (id !== this.#wanted) return
    if (kept) this.model = kept.model
    else this.#attempt.say('This conversation is not kept here. Ask to begin a new one.')
    this.chat.open(id, kept?.messages ?? [], { host: view.host, model: this.model })
  }
}
