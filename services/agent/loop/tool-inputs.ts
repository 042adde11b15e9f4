import type { Tell } from './chunk.ts'
import { AnswerFailure } from './failure.ts'
import { callIdAt, callName } from './function-call.ts'
import type { ToolCallPiece, RawCall } from './heard.ts'

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
export const openToolInputs = (prefix: string, tell: Tell) => {
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
