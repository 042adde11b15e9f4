import type { CallContext } from '#proto/call.ts'
import type { Conversation, UiMessage } from '#proto/conversations.ts'
import type { ConversationWrite } from '../store.ts'

/** Returns a call of a user with all features and a deadline of 30 s. */
export const createUserCall = (subject = 'user_ada'): CallContext => ({
  identity: { kind: 'user', subject, features: 'all' },
  deadline: performance.now() + 30_000,
  signal: new AbortController().signal,
  priority: 'person',
})

/** Returns a message with a text part. The default text has quotes, a control character, umlauts and an emoji. */
export const createMessage = (
  id: string,
  role: UiMessage['role'] = 'user',
  text = `it's "${id}" \\ \u0000 größe 🐘`,
): UiMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
})

/** Returns a message with a tool call and its result, in the format of the AI SDK. */
export const createToolMessage = (id: string): UiMessage => ({
  id,
  role: 'assistant',
  metadata: { tokens: 12 },
  parts: [{ type: 'tool-query', toolCallId: 'c1', state: 'output-available', input: { sql: 'SELECT 1' }, output: [1] }],
})

export const createEvidence = (id = 'e1'): Conversation['evidence'][number] => ({
  id,
  toolCallId: 'c1',
  tool: 'query',
  hostKey: 'logs',
  statement: 'SELECT {a:UInt8}',
  parameters: { a: 1 },
  atMs: 1_790_000_000_000,
  rows: 1,
  rowHash: 'a'.repeat(64),
})

/** Returns a conversation with two messages, as input for a store. */
export const createConversationWrite = (id: string, more: Partial<ConversationWrite> = {}): ConversationWrite => ({
  id,
  hostKey: 'logs',
  model: 'gateway_a:some/model',
  messages: [createMessage('m1'), createToolMessage('m2')],
  firstWords: 'First words',
  atMs: 1_790_000_000_000,
  ...more,
})
