import {
  startAnswer,
  decideApproval,
  decideEgress,
  resumeAnswer,
  stopAnswer,
  type CurrentPage,
} from '#lib/api/agent.ts'
import { getFailureMessage } from '#lib/api/failure.ts'
import { createRandomId } from '#lib/ui/random-id.ts'
import { streamAnswer } from './answer-stream.ts'
import { trimMessagesForRequest } from './message-limits.ts'
import { createUserMessage, type Message, type ToolPart } from './message.ts'

/** The host, the model and the page of a question. */
export interface ChatContext {
  host: number
  model: string | null
  /** The page that the user is viewing; absent without page context. */
  seen?: CurrentPage | undefined
}

/** A function that saves a conversation. It is called when a question is sent and when its answer ends. */
type OnChange = (id: string, messages: readonly Message[], context: ChatContext) => void

/** A conversation with the agent, with its streaming state. */
export class Chat {
  id = $state('')
  messages = $state<Message[]>([])
  isBusy = $state(false)
  failure = $state<string | null>(null)
  readonly #onchange: OnChange
  #reading: AbortController | null = null

  constructor(onchange: OnChange) {
    this.#onchange = onchange
  }

  /**
   * Shows another conversation. A running answer continues on the server and is resumed when its conversation is shown
   * again.
   */
  open(id: string, messages: readonly Message[], context: ChatContext): void {
    this.leave()
    Object.assign(this, { id, messages: [...messages], isBusy: false, failure: null })
    if (messages.at(-1)?.role === 'user') void this.#stream(context, (signal) => resumeAnswer(id, 0, signal))
  }

  /** Sends a question. It replaces the message at `at` and all later ones; by default it is appended. */
  send(text: string, context: ChatContext, at = this.messages.length): Promise<void> {
    this.messages.splice(at)
    this.messages.push(createUserMessage(createRandomId(), text))
    return this.#send(context)
  }

  /** Sends the last question again. */
  retry(context: ChatContext): Promise<void> {
    this.messages.splice(this.messages.findLastIndex(({ role }) => role === 'user') + 1)
    return this.#send(context)
  }

  /** Replies to a question of the agent. */
  reply(call: ToolPart, output: string, context: ChatContext): Promise<void> {
    Object.assign(call, { state: 'output-available', output })
    return this.#send(context)
  }

  stop = (): Promise<void> => this.#attempt(() => stopAnswer(this.id))

  decide = (approvalId: string, approved: boolean): Promise<void> =>
    this.#attempt(() => decideApproval(approvalId, approved))

  decideEgress = (approvalId: string, approved: boolean): Promise<void> =>
    this.#attempt(() => decideEgress(approvalId, approved))

  /** Stops reading the current answer, which continues on the server. */
  leave = (): void => {
    this.#reading?.abort()
    this.#reading = null
  }

  async #attempt(action: () => Promise<unknown>): Promise<void> {
    this.failure = null
    try {
      await action()
    } catch (error) {
      this.failure = getFailureMessage(error)
    }
  }

  #send(context: ChatContext): Promise<void> {
    const messages = $state.snapshot(this.messages)
    this.#onchange(this.id, messages, context)
    const { host: hostId, model, seen: pageContext } = context
    const body = { id: this.id, messages: trimMessagesForRequest(messages), hostId, model, pageContext }
    return this.#stream(context, (signal) => startAnswer(body, signal))
  }

  /** Streams an answer into a new message and records a failure. */
  async #stream(context: ChatContext, open: (signal: AbortSignal) => Promise<Response | null>): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const { id } = this
    this.#reading = controller
    this.isBusy = true
    this.failure = null
    try {
      const response = await open(signal)
      if (response) {
        this.messages.push({ id: createRandomId(), role: 'assistant', parts: [] })
        const message = this.messages.at(-1)
        if (message) await streamAnswer(response, response.headers.get('x-run-id') ?? id, message, signal)
        if (!signal.aborted) this.#onchange(id, $state.snapshot(this.messages), context)
      }
    } catch (error) {
      if (!signal.aborted) this.failure = getFailureMessage(error)
    } finally {
      if (this.#reading === controller) this.isBusy = false
    }
  }
}
