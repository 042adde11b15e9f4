import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import type { ChosenModel } from '../models/model-choice.ts'
import { AnswerFailure } from './answer-failure.ts'
import {
  type ChunkDelta,
  parseChunks,
  type TokenUsage,
  type RawToolCall,
  createToolCallId,
  sanitizeToolName,
  type ToolCallDelta,
} from './chunks.ts'
import type { ChunkEmitter } from './answer-context.ts'
import { openThinkingSplitter } from './thinking.ts'

/** The request of one step. */
interface StepRequest {
  model: ChosenModel
  /** The model id in the request: `model.model` or the fallback. */
  name: string
  messages: readonly ChatCompletionMessageParam[]
  tools: readonly ChatCompletionTool[]
  /** Whether the model may call tools in this step. */
  mayCallTools: boolean
  signal: AbortSignal
  /** Prefix of the part ids of this step, unique within the conversation. */
  prefix: string
}

/**
 * The progress of a response. It is kept if the request fails, so that the tokens of failed requests are counted too.
 */
export interface StepProgress {
  usage: TokenUsage | undefined
  /** The model name that the gateway reports. */
  resolvedModel: string | undefined
  /** Why the model ended its response. */
  finishReason: string | null
  /** Number of characters that the model has generated, including reasoning and tool calls. */
  written: number
  /** Whether the gateway rejected the request without running the model. */
  isRejected: boolean
}

export const createStepProgress = (): StepProgress => ({
  usage: undefined,
  resolvedModel: undefined,
  finishReason: null,
  written: 0,
  isRejected: false,
})

/** Called for each chunk of a step, with whether the chunk has content. */
type OnChunk = (hasContent: boolean) => void

/** The response of a model in one step. */
export interface StepResponse {
  text: string
  calls: readonly RawToolCall[]
  /** Whether the response was truncated at the token limit of the gateway. */
  cut: boolean
}

/** Maximum length of the text of a response, and of a response with its reasoning, in characters. */
const maxTextLength = 256 * 1024
const maxResponseLength = 2 * 1024 * 1024

/** Requests one response and emits its chunks as they arrive. Throws `AnswerFailure`, or the abort reason. */
export const requestStep = async (
  request: StepRequest,
  emit: ChunkEmitter,
  progress: StepProgress,
  onChunk: OnChunk,
): Promise<StepResponse> => {
  const said = openTextEmitter(request.prefix, emit)
  const inputs = openToolCallCollector(request.prefix, emit)
  let ending: string | null = null
  let hasRefused = false
  let hasStarted = false
  try {
    for await (const chunk of parseChunks(await openCompletionStream(request))) {
      hasStarted = true
      progress.usage = chunk.usage ?? progress.usage
      progress.resolvedModel = chunk.model || progress.resolvedModel
      const [choice] = chunk.choices ?? []
      ending = choice?.finish_reason ?? ending
      progress.finishReason = ending
      const delta = choice?.delta ?? choice?.message
      hasRefused ||= Boolean(delta?.refusal)
      const length = delta ? handleDelta(delta, said, inputs) : 0
      progress.written += length
      onChunk(length > 0)
      if (said.text.length > maxTextLength || progress.written > maxResponseLength)
        throw new AnswerFailure('provider-garbled')
    }
    // The library ends an aborted stream as if it were complete.
    request.signal.throwIfAborted()
    said.end()
    requireComplete({ ending, hasStarted, hasRefused })
    // A gateway would reject a lone surrogate in the history.
    return { text: said.text.toWellFormed(), calls: inputs.calls(), cut: ending === 'length' }
  } catch (error) {
    said.end()
    inputs.abandon()
    request.signal.throwIfAborted()
    const { toProviderFailure, isGatewayRejection } = await import('./provider-failure.ts')
    progress.isRejected = isGatewayRejection(error)
    throw toProviderFailure(error, hasStarted) ?? error
  }
}

/** Throws `AnswerFailure` if a response has no valid ending, or if the model has refused to answer. */
const requireComplete = (response: { ending: string | null; hasStarted: boolean; hasRefused: boolean }): void => {
  const { ending, hasStarted, hasRefused } = response
  if (hasRefused || ending === 'content_filter') throw new AnswerFailure('model-refused')
  if (ending === null) throw new AnswerFailure(hasStarted ? 'provider-cut-off' : 'provider-garbled')
  if (ending === 'error') throw new AnswerFailure('provider-failed')
}

const openCompletionStream = ({ model: { client }, name, messages, tools, mayCallTools, signal }: StepRequest) =>
  client.chat.completions.create(
    {
      model: name,
      messages: [...messages],
      stream: true,
      stream_options: { include_usage: true },
      ...(tools.length > 0 && { tools: [...tools], tool_choice: mayCallTools ? 'auto' : 'none' }),
    },
    // The agent retries on its own, so that each request counts towards the limits of the answer.
    { signal, maxRetries: 0 },
  )

/** Processes one delta and returns the number of its characters. */
const handleDelta = (
  delta: ChunkDelta,
  said: ReturnType<typeof openTextEmitter>,
  inputs: ReturnType<typeof openToolCallCollector>,
): number => {
  const reasoning = delta.reasoning_content ?? delta.reasoning ?? ''
  const text = delta.content || delta.refusal || ''
  const calls = delta.tool_calls ?? []
  if (reasoning) said.reason(reasoning)
  if (text) said.say(text)
  if (calls.length > 0) said.end()
  for (const call of calls) inputs.add(call)
  return reasoning.length + text.length + (calls.length > 0 ? JSON.stringify(calls).length : 0)
}

type PartKind = 'text' | 'reasoning'

/**
 * Emits the text and the reasoning of one step. Each change between the two starts a new message part. Text between
 * `<think>` tags is reasoning.
 */
const openTextEmitter = (prefix: string, emit: ChunkEmitter) => {
  const splitter = openThinkingSplitter()
  let text = ''
  let parts = 0
  let speaking: { kind: PartKind; id: string } | undefined

  const close = (): void => {
    if (speaking) emit({ type: `${speaking.kind}-end`, id: speaking.id })
    speaking = undefined
  }
  const speak = (kind: PartKind, delta: string): void => {
    if (kind === 'text') text += delta
    if (speaking?.kind !== kind) {
      close()
      speaking = { kind, id: `${prefix}-${(parts += 1)}` }
      emit({ type: `${kind}-start`, id: speaking.id })
    }
    emit({ type: `${kind}-delta`, id: speaking.id, delta })
  }
  const speakAll = (pieces: ReturnType<typeof splitter.push>): void => {
    for (const { kind, text: delta } of pieces) speak(kind, delta)
  }

  return {
    get text() {
      return text
    },
    say: (delta: string) => speakAll(splitter.push(delta)),
    reason: (delta: string) => speak('reasoning', delta),
    end: (): void => {
      speakAll(splitter.end())
      close()
    },
  }
}

/** A tool call whose pieces are being collected. */
interface CallSlot {
  call: RawToolCall
  gatewayId: string | null | undefined
}

const maxCalls = 32
const maxArgumentsLength = 128 * 1024

/** Collects the tool calls of one step and emits their arguments as they arrive. */
const openToolCallCollector = (prefix: string, emit: ChunkEmitter) => {
  const calls: RawToolCall[] = []
  const slots = new Map<number | string, CallSlot>()

  const begin = (): RawToolCall => {
    if (calls.length === maxCalls) throw new AnswerFailure('unusable-tool-calls')
    const call = { id: createToolCallId(`${prefix}-${calls.length + 1}`), name: '', argumentsText: '' }
    calls.push(call)
    return call
  }

  /**
   * Returns the call to which a piece belongs. The pieces of one call have the same index. Some gateways send no index,
   * or the same one for all calls; then a piece with a name starts a new call.
   */
  const callOf = ({ index, id, function: called }: ToolCallDelta): RawToolCall => {
    const name = called?.name
    const place = index ?? id
    if (place == null) return (name ? undefined : calls.at(-1)) ?? begin()
    const known = slots.get(place)
    if (known && !(name && id && id !== known.gatewayId)) return known.call
    const call = begin()
    slots.set(place, { call, gatewayId: id })
    return call
  }

  return {
    calls: (): readonly RawToolCall[] =>
      calls.map(({ id, name, argumentsText }) => ({
        id,
        name: name || sanitizeToolName(''),
        argumentsText: argumentsText.toWellFormed(),
      })),
    add(piece: ToolCallDelta): void {
      const call = callOf(piece)
      const { name, arguments: more } = piece.function ?? {}
      if (name && call.name === '') {
        call.name = sanitizeToolName(name)
        emit({ type: 'tool-input-start', toolCallId: call.id, toolName: call.name })
      }
      if (!more) return
      call.argumentsText += more
      if (call.argumentsText.length > maxArgumentsLength) throw new AnswerFailure('unusable-tool-calls')
      if (call.name !== '') emit({ type: 'tool-input-delta', toolCallId: call.id, inputTextDelta: more })
    },
    /** Emits an error for each unfinished call. */
    abandon(): void {
      for (const { id, name, argumentsText } of calls) {
        if (name === '') continue
        const errorText = 'the model did not complete this tool call'
        emit({ type: 'tool-input-error', toolCallId: id, toolName: name, input: argumentsText, errorText })
      }
    },
  }
}
