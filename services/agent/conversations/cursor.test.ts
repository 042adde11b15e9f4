import { expect, it } from 'vitest'
import { ConversationCursor } from '#proto/conversations.ts'
import { parseConversationCursor } from './store.ts'

it('parses its own cursors and rejects those of another store', () => {
  expect(parseConversationCursor('17.a-b')).toEqual({ updatedAtMs: 17, id: 'a-b' })
  expect(() => parseConversationCursor(ConversationCursor.parse('~1.a'))).toThrow('invalid cursor')
})
