import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { parseJson } from '#shared/text/parse-json.ts'

/** Lists that are answered whole, so that no cursor of ours is ever around. */
const lists: ReadonlySet<string> = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** How the library words a message whose parameters are of another shape. */
const listedProblems = /^(?:Invalid \S+ request: )?(?<problems>\[\s*\{.*\])$/s
const Problems = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))

/**
 * Parameters that do not fit are the caller's error, and named in words: the library answers some of them as an error of its own
 * with the problems as JSON text, and takes any cursor for the first page.
 */
export const refuseInvalidParams = (transport: Transport): void => {
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  transport.send = (message, options) => send(worded(message), options)
  // A transport is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message, extra) => {
    if (isRequest(message) && lists.has(message.method) && message.params?.cursor !== undefined) {
      void send(invalid(message.id, 'cursor is of no list here: each is answered whole'))
    } else onmessage?.(message, extra)
  }
}

const isRequest = (message: JSONRPCMessage) => 'method' in message && 'id' in message

const worded = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!('error' in message) || message.id === undefined) return message
  const sentence = wordsOf(message.error.message)
  return sentence === undefined ? message : invalid(message.id, sentence)
}

const wordsOf = (text: string): string | undefined => {
  const { problems } = listedProblems.exec(text)?.groups ?? {}
  if (problems === undefined) return undefined
  const found = Problems.safeParse(parseJson(problems)).data
  return found?.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}

const invalid = (id: string | number, sentence: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${sentence}` },
})
