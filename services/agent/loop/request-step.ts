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
  type ToolCallPiece,
} from './chunks.ts'
import type { EmitChunk } from './answer-context.ts'

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

/** The response of a model in one step. */
export interface StepResponse {
  text: string
  calls: readonly RawToolCall[]
  usage: TokenUsage | undefined
  resolvedModel: string | undefined
  /** Whether the response was truncated at the token limit of the gateway. */
  cut: boolean
}

const maxTextLength = 256 * 1024

/** Requests one response and emits its chunks as they arrive. Throws `AnswerFailure`, or the abort reason. */
export const requestStep = async (request: StepRequest, emit: EmitChunk, spoke: () => void): Promise<StepResponse> => {
  const said = openTextEmitter(request.prefix, emit)
  const inputs = openToolCallCollector(request.prefix, emit)
  let usage: TokenUsage | undefined
  let resolvedModel: string | undefined
  let ending: string | null = null
  let hasStarted = false
  try {
    for await (const chunk of parseChunks(await openCompletionStream(request))) {
      hasStarted = true
      usage = chunk.usage ?? usage
      resolvedModel = chunk.model || resolvedModel
      const [choice] = chunk.choices ?? []
      if (choice === undefined) continue
      ending = choice.finish_reason ?? ending
      if (choice.delta && handleDelta(choice.delta, said, inputs)) spoke()
      if (said.text.length > maxTextLength) throw new AnswerFailure('provider-garbled')
    }
    // The library ends an aborted stream as if it were complete.
    request.signal.throwIfAborted()
    if (ending === null) throw new AnswerFailure(hasStarted ? 'provider-cut-off' : 'provider-garbled')
    if (ending === 'content_filter') throw new AnswerFailure('provider-refused')
    if (ending === 'error') throw new AnswerFailure('provider-failed')
    said.end()
    // A gateway would reject a lone surrogate in the history.
    return { text: said.text.toWellFormed(), calls: inputs.calls(), usage, resolvedModel, cut: ending === 'length' }
  } catch (error) {
    said.end()
    inputs.abandon()
    request.signal.throwIfAborted()
    const { toProviderFailure: providerFailure } = await import('./provider-failure.ts')
    throw providerFailure(error, hasStarted) ?? error
  }
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
    { signal },
  )

/** Processes one delta and returns whether it had content. */
const handleDelta = (
  delta: ChunkDelta,
  said: ReturnType<typeof openTextEmitter>,
  inputs: ReturnType<typeof openToolCallCollector>,
): boolean => {
  const reasoning = delta.reasoning_content ?? delta.reasoning
  const calls = delta.tool_calls ?? []
  if (reasoning) said.reason(reasoning)
  if (delta.content) said.say(delta.content)
  if (calls.length > 0) said.end()
  for (const call of calls) inputs.add(call)
  return Boolean(reasoning || delta.content || calls.length > 0)
}

type PartKind = 'text' | 'reasoning'

/** Emits the text and the reasoning of one step. Each change between the two starts a new message part. */
const openTextEmitter = (prefix: string, emit: EmitChunk) => {
  let text = ''
  let parts = 0
  let speaking: { kind: PartKind; id: string } | undefined

  const end = (): void => {
    if (speaking) emit({ type: `${speaking.kind}-end`, id: speaking.id })
    speaking = undefined
  }
  const speak = (kind: PartKind, delta: string): void => {
    if (speaking?.kind !== kind) {
      end()
      speaking = { kind, id: `${prefix}-${(parts += 1)}` }
      emit({ type: `${kind}-start`, id: speaking.id })
    }
    emit({ type: `${kind}-delta`, id: speaking.id, delta })
  }

  return {
    get text() {
      return text
    },
    say(delta: string): void {
      text += delta
      speak('text', delta)
    },
    reason: (delta: string) => speak('reasoning', delta),
    end,
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
const openToolCallCollector = (prefix: string, emit: EmitChunk) => {
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
  const callOf = ({ index, id, function: called }: ToolCallPiece): RawToolCall => {
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
    add(piece: ToolCallPiece): void {
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
