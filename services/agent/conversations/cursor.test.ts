import { expect, it } from 'vitest'
import { ConversationCursor } from '#proto/conversations.ts'
import { positionOf } from './cursor.ts'

it('reads where a list goes on, and refuses what only another store knows', () => {
  expect(positionOf('17.a-b')).toEqual({ updatedAtMs: 17, id: 'a-b' })
  expect(() => positionOf(ConversationCursor.parse('~1.a'))).toThrow('cursor must be the next of an answer')
})
