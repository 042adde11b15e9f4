import type { Message, MessagePart, ToolPart, TextOrReasoningPart } from './message.ts'

/** A chunk of the UI message stream. Its `type` decides which fields are set. */
export interface MessageChunk {
  type: string
  id?: string
  messageId?: string
  delta?: string
  toolCallId?: string
  toolName?: string
  title?: string
  input?: unknown
  output?: unknown
  errorText?: string
  data?: unknown
}

/** Returns a function that applies each stream chunk to the message in place, as the AI SDK does. */
export const createMessageAssembler = (
  message: Message,
  now: () => number = Date.now,
): ((chunk: MessageChunk) => void) => {
  const handlers: Record<string, (chunk: MessageChunk) => void> = {
    start: ({ messageId }) => {
      if (messageId) message.id = messageId
    },
    'start-step': () => void appendPart(message, { type: 'step-start' }),
    abort: () => (message.metadata = { ...message.metadata, isStopped: true }),
    ...createTextHandlers(message),
    ...createToolHandlers(message, now),
  }
  return (chunk) => {
    const { type } = chunk
    if (type === 'data-correction') dropCorrectedText(message)
    if (isDataType(type)) addData(message, type, chunk)
    else handlers[type]?.(chunk)
  }
}

const appendPart = <P extends MessagePart>({ parts }: Message, part: P): P => {
  parts.push(part)
  // Returns the part from the array instead of `part`: it may be a reactive proxy, whose changes update the page.
  return parts.at(-1) as P
}

const createTextHandlers = (message: Message): Record<string, (chunk: MessageChunk) => void> => {
  const open = new Map<string, TextOrReasoningPart>()
  const begin = (type: TextOrReasoningPart['type']) => (chunk: MessageChunk) =>
    void open.set(chunk.id ?? '', appendPart(message, { type, text: '', state: 'streaming' }))
  const append = ({ id = '', delta = '' }: MessageChunk) => {
    const part = open.get(id)
    if (part) part.text += delta
  }
  const end = ({ id = '' }: MessageChunk) => {
    const part = open.get(id)
    if (part) part.state = 'done'
  }
  return {
    'text-start': begin('text'),
    'text-delta': append,
    'text-end': end,
    'reasoning-start': begin('reasoning'),
    'reasoning-delta': append,
    'reasoning-end': end,
  }
}

const createToolHandlers = (message: Message, now: () => number): Record<string, (chunk: MessageChunk) => void> => {
  const calls = new Map<string, ToolPart>()
  const callOf = ({ toolCallId = '', toolName = '', title }: MessageChunk): ToolPart => {
    const known = calls.get(toolCallId)
    const call =
      known ?? appendPart<ToolPart>(message, { type: `tool-${toolName}`, toolCallId, state: 'input-streaming' })
    if (title !== undefined) call.title = title
    calls.set(toolCallId, call)
    return call
  }
  const end = (chunk: MessageChunk, outcome: Partial<ToolPart>) => {
    const call = callOf(chunk)
    Object.assign(call, outcome, call.calledAtMs !== undefined && { tookMs: now() - call.calledAtMs })
  }
  const fail = (chunk: MessageChunk) => end(chunk, { state: 'output-error', errorText: chunk.errorText ?? '' })
  return {
    'tool-input-start': (chunk) => void callOf(chunk),
    'tool-input-available': (chunk) =>
      void Object.assign(callOf(chunk), { state: 'input-available', input: chunk.input, calledAtMs: now() }),
    'tool-input-error': (chunk) => {
      callOf(chunk).input = chunk.input
      fail(chunk)
    },
    'tool-output-available': (chunk) => end(chunk, { state: 'output-available', output: chunk.output }),
    'tool-output-error': fail,
  }
}

/** Replaces the part with the same type and id, or appends a new one. */
const addData = (message: Message, type: `data-${string}`, { id, data }: MessageChunk): void => {
  const before = message.parts.find((part) => part.type === type && id !== undefined && 'id' in part && part.id === id)
  if (before && 'data' in before) before.data = data
  else appendPart(message, { type, ...(id !== undefined && { id }), data })
}

/** Removes the text of the previous step, because the current step corrects it. */
const dropCorrectedText = (message: Message): void => {
  const current = message.parts.findLastIndex(({ type }) => type === 'step-start')
  const corrected = message.parts.slice(0, Math.max(0, current)).findLastIndex(({ type }) => type === 'step-start')
  message.parts = message.parts.filter(({ type }, index) => !(type === 'text' && index > corrected && index < current))
}

const isDataType = (type: string): type is `data-${string}` => type.startsWith('data-')
