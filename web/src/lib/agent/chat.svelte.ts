import { askAgent, decideApproval, decideEgress, resumeAnswer, stopAnswer, type SeenPage } from '#lib/api/agent.ts'
import { failureMessage } from '#lib/api/failure.ts'
import { randomId } from '#lib/ui/random-id.ts'
import { follow } from './follow.ts'
import { sent } from './fitting.ts'
import { personSaid, type Message, type ToolPart } from './message.ts'

/** What an answer is asked with. */
export interface Asking {
  host: number
  model: string | null
  /** The page that whoever asks looks at; absent where that says nothing. */
  seen?: SeenPage | undefined
}

/** Told of a conversation when it is worth keeping: when something was asked, and when it was answered. */
type OnChange = (id: string, messages: readonly Message[], asking: Asking) => void

/** One conversation under way. */
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

  /** Shows another conversation. What is under way goes on at the service, and is taken up when this one is shown again. */
  open(id: string, messages: readonly Message[], asking: Asking): void {
    this.leave()
    Object.assign(this, { id, messages: [...messages], isBusy: false, failure: null })
    if (messages.at(-1)?.role === 'user') void this.#tell(asking, (signal) => resumeAnswer(id, 0, signal))
  }

  /** Asks in place of the message at `at` and all after it, or at the end. */
  say(text: string, asking: Asking, at = this.messages.length): Promise<void> {
    this.messages.splice(at)
    this.messages.push(personSaid(randomId(), text))
    return this.#ask(asking)
  }

  /** Asks again what was asked last. */
  retry(asking: Asking): Promise<void> {
    this.messages.splice(this.messages.findLastIndex(({ role }) => role === 'user') + 1)
    return this.#ask(asking)
  }

  /** Answers what the agent asked. */
  reply(call: ToolPart, output: string, asking: Asking): Promise<void> {
    Object.assign(call, { state: 'output-available', output })
    return this.#ask(asking)
  }

  stop = (): Promise<void> => this.#attempt(() => stopAnswer(this.id))

  decide = (approvalId: string, approved: boolean): Promise<void> =>
    this.#attempt(() => decideApproval(approvalId, approved))

  decideEgress = (approvalId: string, approved: boolean): Promise<void> =>
    this.#attempt(() => decideEgress(approvalId, approved))

  /** Lets go of what is read. */
  leave = (): void => {
    this.#reading?.abort()
    this.#reading = null
  }

  async #attempt(deed: () => Promise<unknown>): Promise<void> {
    this.failure = null
    try {
      await deed()
    } catch (error) {
      this.failure = failureMessage(error)
    }
  }

  #ask(asking: Asking): Promise<void> {
    const messages = $state.snapshot(this.messages)
    this.#onchange(this.id, messages, asking)
    const { host: hostId, model, seen: pageContext } = asking
    const body = { id: this.id, messages: sent(messages), hostId, model, pageContext }
    return this.#tell(asking, (signal) => askAgent(body, signal))
  }

  /** Has an answer told, and whatever goes wrong with it. */
  async #tell(asking: Asking, open: (signal: AbortSignal) => Promise<Response | null>): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const { id } = this
    this.#reading = controller
    this.isBusy = true
    this.failure = null
    try {
      const response = await open(signal)
      if (response) {
        this.messages.push({ id: randomId(), role: 'assistant', parts: [] })
        const message = this.messages.at(-1)
        if (message) await follow(response, response.headers.get('x-run-id') ?? id, message, signal)
        if (!signal.aborted) this.#onchange(id, $state.snapshot(this.messages), asking)
      }
    } catch (error) {
      if (!signal.aborted) this.failure = failureMessage(error)
    } finally {
      if (this.#reading === controller) this.isBusy = false
    }
  }
}
