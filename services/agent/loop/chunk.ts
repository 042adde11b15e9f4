import type { Run } from '../runs/run.ts'

/** What the UI message stream of the AI SDK, version 1, is made of, as far as answers need it. */
export type Chunk =
  | { type: 'start'; messageId: string; messageMetadata: { runId: string } }
  | { type: 'start-step' | 'finish-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; title?: string }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; title?: string }
  | { type: 'tool-input-error'; toolCallId: string; toolName: string; input: unknown; errorText: string }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: `data-${string}`; id?: string; data: unknown }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: FinishReason }

/** Why an answer has ended, in the words of the AI SDK. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'error'

/** Tells one chunk to whoever reads the run. */
export type Tell = (chunk: Chunk) => void

export const tellerOf =
  (run: Run): Tell =>
  (chunk) =>
    run.tell(JSON.stringify(chunk))

/** The line after which nothing comes. */
export const done = '[DONE]'
