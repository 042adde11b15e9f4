import type { Logger } from 'pino'
import type { Call } from '#proto/call.ts'
import type { Conversation } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Models } from '../models/open.ts'
import { generateTitle } from './enrich.ts'
import type { ConversationStore } from './store.ts'

/** Gives new conversations titles while nobody waits for them. */
export interface Titling extends AsyncDisposable {
  /** A conversation keeps its first words when the model says nothing, or somebody has named it meanwhile. */
  begin(owner: string, conversation: Pick<Conversation, 'id' | 'title' | 'messages'>, call: Call): void
}

interface Parts {
  store(): Promise<ConversationStore>
  models: Pick<Models, 'choose'>
  clock: Clock
  log: Logger
}

/** Titles that are thought of at a time; conversations beyond keep their first words. */
const mostAtOnce = 16
const withinMs = 60_000

export const openTitling = ({ store, models, clock, log }: Parts): Titling => {
  const closing = new AbortController()
  const running = new Set<Promise<void>>()
  const entitle: (...asked: Parameters<Titling['begin']>) => Promise<void> = async (owner, conversation, call) => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(withinMs)])
    // It goes on when whoever kept the conversation has left.
    const own = { ...call, signal, deadline: clock.elapsedMs() + withinMs }
    try {
      const title = await generateTitle(models, conversation.messages, own)
      if (title !== undefined) await (await store()).retitle(owner, conversation.id, conversation.title, title)
    } catch (error) {
      if (!closing.signal.aborted) log.warn(told(error), 'a conversation keeps its first words as title')
    }
  }
  return {
    begin(owner, conversation, call) {
      if (running.size >= mostAtOnce || closing.signal.aborted) return
      const one = entitle(owner, conversation, call).finally(() => running.delete(one))
      running.add(one)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await Promise.all(running)
    },
  }
}

/** Its sentence alone, since its cause may be what a gateway or another service said. */
const told = (error: unknown): Record<string, unknown> =>
  error instanceof ServiceError ? { reason: error.message } : { err: error }
