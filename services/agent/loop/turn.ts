import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import type { ChosenModel } from '../models/choose.ts'
import { AnswerFailure } from './failure.ts'
import { type Delta, heard, type Usage, type RawCall, callIdAt, callName, type ToolCallPiece } from './heard.ts'
import type { Tell } from './talk.ts'

/** What a model is asked in one step. */
interface Asked {
  model: ChosenModel
  /** The model's name at its gateway: `model.model`, or its fallback. */
  name: string
  messages: readonly ChatCompletionMessageParam[]
  tools: readonly ChatCompletionTool[]
  /** False where no more tools may be asked for. */
  mayCallTools: boolean
  signal: AbortSignal
  /** Begins the ids of this turn's parts; no other turn of the conversation has it. */
  prefix: string
}

/** What a model said in one step. */
export interface Turn {
  text: string
  calls: readonly RawCall[]
  usage: Usage | undefined
  resolvedModel: string | undefined
  /** Whether it ended because the gateway allows no longer answer. */
  cut: boolean
}

/** Longest text of one step. */
const longestText = 256 * 1024

/** Has a model speak once, and tells what it says while it says it. Throws `AnswerFailure`, or the reason of the signal. */
export const takeTurn = async (asked: Asked, tell: Tell, spoke: () => void): Promise<Turn> => {
  const said = openSpeech(asked.prefix, tell)
  const inputs = openToolInputs(asked.prefix, tell)
  let usage: Usage | undefined
  let resolvedModel: string | undefined
  let ending: string | null = null
  let hasBegun = false
  try {
    for await (const chunk of heard(await open(asked))) {
      hasBegun = true
      usage = chunk.usage ?? usage
      resolvedModel = chunk.model || resolvedModel
      const [choice] = chunk.choices ?? []
      if (choice === undefined) continue
      ending = choice.finish_reason ?? ending
      if (choice.delta && hear(choice.delta, said, inputs)) spoke()
      if (said.text.length > longestText) throw new AnswerFailure('provider-garbled')
    }
    // The library ends a stream that was aborted as if it were whole.
    asked.signal.throwIfAborted()
    if (ending === null) throw new AnswerFailure(hasBegun ? 'provider-cut-off' : 'provider-garbled')
    if (ending === 'content_filter') throw new AnswerFailure('provider-refused')
    if (ending === 'error') throw new AnswerFailure('provider-failed')
    said.end()
    // A gateway would refuse half a character when it is told of this turn.
    return { text: said.text.toWellFormed(), calls: inputs.calls(), usage, resolvedModel, cut: ending === 'length' }
  } catch (error) {
    said.end()
    inputs.abandon()
    asked.signal.throwIfAborted()
    const { providerFailure } = await import('./provider-failure.ts')
    throw providerFailure(error, hasBegun) ?? error
  }
}

const open = ({ model: { client }, name, messages, tools, mayCallTools, signal }: Asked) =>
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

/** Takes one piece of what a model says; false for a piece that says nothing. */
const hear = (
  delta: Delta,
  said: ReturnType<typeof openSpeech>,
  inputs: ReturnType<typeof openToolInputs>,
): boolean => {
  const reasoning = delta.reasoning_content ?? delta.reasoning
  const calls = delta.tool_calls ?? []
  if (reasoning) said.reason(reasoning)
  if (delta.content) said.say(delta.content)
  if (calls.length > 0) said.end()
  for (const call of calls) inputs.hear(call)
  return Boolean(reasoning || delta.content || calls.length > 0)
}

type Kind = 'text' | 'reasoning'

/** What a model says and thinks in one step, told as it comes: each change between the two begins a new part. */
const openSpeech = (prefix: string, tell: Tell) => {
  let text = ''
  let parts = 0
  let speaking: { kind: Kind; id: string } | undefined

  const end = (): void => {
    if (speaking) tell({ type: `${speaking.kind}-end`, id: speaking.id })
    speaking = undefined
  }
  const speak = (kind: Kind, delta: string): void => {
    if (speaking?.kind !== kind) {
      end()
      speaking = { kind, id: `${prefix}-${(parts += 1)}` }
      tell({ type: `${kind}-start`, id: speaking.id })
    }
    tell({ type: `${kind}-delta`, id: speaking.id, delta })
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

/** Where the pieces of one call arrive. */
interface Place {
  call: RawCall
  gatewayId: string | null | undefined
}

/** Calls that one step may bring. */
const mostCalls = 32
/** Longest arguments of one call. */
const longestArguments = 128 * 1024

/** The calls of one step, told while their arguments come. */
const openToolInputs = (prefix: string, tell: Tell) => {
  const calls: RawCall[] = []
  const places = new Map<number | string, Place>()

  const begin = (): RawCall => {
    if (calls.length === mostCalls) throw new AnswerFailure('unusable-tool-calls')
    const call = { id: callIdAt(`${prefix}-${calls.length + 1}`), name: '', argumentsText: '' }
    calls.push(call)
    return call
  }

  /** Pieces of one call share an index. Some gateways send none, or the same for all; then a name begins a call. */
  const callOf = ({ index, id, function: told }: ToolCallPiece): RawCall => {
    const name = told?.name
    const place = index ?? id
    if (place == null) return (name ? undefined : calls.at(-1)) ?? begin()
    const known = places.get(place)
    if (known && !(name && id && id !== known.gatewayId)) return known.call
    const call = begin()
    places.set(place, { call, gatewayId: id })
    return call
  }

  return {
    calls: (): readonly RawCall[] =>
      calls.map(({ id, name, argumentsText }) => ({
        id,
        name: name || callName(''),
        argumentsText: argumentsText.toWellFormed(),
      })),
    hear(piece: ToolCallPiece): void {
      const call = callOf(piece)
      const { name, arguments: more } = piece.function ?? {}
      if (name && call.name === '') {
        call.name = callName(name)
        tell({ type: 'tool-input-start', toolCallId: call.id, toolName: call.name })
      }
      if (!more) return
      call.argumentsText += more
      if (call.argumentsText.length > longestArguments) throw new AnswerFailure('unusable-tool-calls')
      if (call.name !== '') tell({ type: 'tool-input-delta', toolCallId: call.id, inputTextDelta: more })
    },
    /** Says of calls that were begun that they never came to an end. */
    abandon(): void {
      for (const { id, name, argumentsText } of calls) {
        if (name === '') continue
        const errorText = 'the model did not finish this call'
        tell({ type: 'tool-input-error', toolCallId: id, toolName: name, input: argumentsText, errorText })
      }
    },
  }
}
