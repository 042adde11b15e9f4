import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { ResponsePiece, ScriptedModelResponse } from './model-script.ts'
import type { ChatRequest } from './strict-request.ts'

type StreamedResponse = Extract<ScriptedModelResponse, { say: unknown }>

/** Streams a response as a gateway does: token by token, tool calls in pieces, then finish reason and usage. */
export const streamScriptedResponse = async (
  response: ServerResponse,
  { say, ending, costUsd, tokensPerSecond = Infinity, thinksMs = 0 }: StreamedResponse,
  request: ChatRequest,
): Promise<void> => {
  const { model } = request
  const send = (choices: unknown[], usage?: unknown) =>
    response.write(
      `data: ${JSON.stringify({ id: 'chat-1', object: 'chat.completion.chunk', model, choices, usage })}\n\n`,
    )
  const deltas = createDeltas(say)
  if (thinksMs > 0) await wait(thinksMs)
  const beganMs = performance.now()
  for (const [index, delta] of deltas.entries()) {
    const dueMs = beganMs + ((index + 1) * 1_000) / tokensPerSecond
    if (dueMs - performance.now() >= 1) await wait(dueMs - performance.now())
    if (response.destroyed) return
    send([{ index: 0, delta: index === 0 ? { role: 'assistant', ...delta } : delta, finish_reason: null }])
  }
  // The client receives the data sent so far, but not the end of the stream.
  if (ending === 'cut') return void response.socket?.end()
  if (ending === 'stall') return
  const reason = ending ?? (say.some((piece) => 'call' in piece) ? 'tool_calls' : 'stop')
  send([{ index: 0, delta: {}, finish_reason: reason }])
  if (request.stream_options) send([], { ...estimateUsage(request, deltas.length), cost: costUsd })
  response.end('data: [DONE]\n\n')
}

/** Returns the usage of a response. One token is four characters of input, or one piece of output. */
export const estimateUsage = (request: ChatRequest, written: number) => {
  const read = Math.ceil(JSON.stringify([request.messages, request.tools]).length / 4)
  return { prompt_tokens: read, completion_tokens: written, total_tokens: read + written }
}

const createDeltas = (say: readonly ResponsePiece[]): object[] => {
  let calls = 0
  return say.flatMap((piece): object[] => {
    if ('text' in piece) return splitIntoTokens(piece.text).map((content) => ({ content }))
    if ('reasoning' in piece) return splitIntoTokens(piece.reasoning).map((text) => ({ reasoning_content: text }))
    if ('refusal' in piece) return splitIntoTokens(piece.refusal).map((refusal) => ({ refusal }))
    const index = calls++
    const given = piece.with ?? {}
    const pieces = splitIntoTokens(typeof given === 'string' ? given : JSON.stringify(given))
    const call = { index, id: `call_${index}`, type: 'function', function: { name: piece.call, arguments: '' } }
    return [call, ...pieces.map((text) => ({ index, function: { arguments: text } }))].map((each) => ({
      tool_calls: [each],
    }))
  })
}

/** Splits a text into approximate tokens of at most eight characters, each with the preceding spaces. */
const splitIntoTokens = (text: string): string[] => text.match(/\s*\S{1,8}|\s+$/g) ?? []
