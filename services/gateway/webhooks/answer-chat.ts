import type { Logger } from 'pino'
import type { Send } from '#shared/net/net.ts'

/** Reports the result of a click to the chat: to everyone in it, or only to the user who clicked. */
export type AnswerChat = (address: string, said: ChatAnswer) => Promise<void>

interface ChatAnswer {
  text: string
  toAll: boolean
}

/** The chat service waits three seconds for our answer to the click. */
const timeoutMs = 1_500

/** The action remains in effect even if the chat is unreachable. */
export const openAnswerChat =
  (send: Send, log: Logger): AnswerChat =>
  async (address, { text, toAll }) => {
    const body = JSON.stringify({ text, response_type: toAll ? 'in_channel' : 'ephemeral', replace_original: false })
    const headers = { 'content-type': 'application/json' }
    try {
      const { status } = await send(address, { method: 'POST', headers, body, timeoutMs })
      if (status !== 200) log.warn({ status }, 'Slack rejected the reply to an action')
    } catch (error) {
      log.warn({ err: error }, 'replying to a Slack action failed')
    }
  }
