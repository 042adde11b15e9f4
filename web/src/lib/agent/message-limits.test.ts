import { describe, expect, it } from 'vitest'
import { AgentRequest } from '#proto/http/agent.ts'
import { trimMessagesForStorage, trimMessagesForRequest } from './message-limits.ts'
import { createUserMessage, type Message, type MessagePart } from './message.ts'

const result = (length: number): MessagePart => ({
  type: 'tool-query',
  toolCallId: 'c',
  state: 'output-available',
  input: {},
  output: { text: 'ß'.repeat(length) },
})
const answered = (...parts: MessagePart[]): Message => ({ id: 'a', role: 'assistant', parts })
const question = (text: string) => createUserMessage('q', text)
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

describe('trimMessagesForRequest', () => {
  it('keeps everything that a model reads', () => {
    const thought: MessagePart = { type: 'reasoning', text: 'Hm.', state: 'done' }
    const [, answer] = trimMessagesForRequest([
      question('a'),
      answered(thought, result(1), { type: 'data-usage', data: {} }),
      question('b'),
    ])
    expect(answer?.parts).toEqual([expect.objectContaining({ type: 'tool-query', output: { text: 'ß' } })])
  })

  it.each([
    ['many messages', Array.from({ length: 80 }, () => [question('a'), answered(result(1))]).flat()],
    [
      'long answers',
      Array.from({ length: 9 }, () => [question('a'), answered(...Array(12).fill(result(9_000)))]).flat(),
    ],
    ['answers with many parts', [question('a'), answered(...Array.from({ length: 300 }, () => result(1)))]],
  ])('keeps the newest of %s, starting with a question', (_what, before) => {
    const messages = trimMessagesForRequest([...before, question('b')])
    expect(messages.length).toBeGreaterThan(2)
    expect(messages.length).toBeLessThanOrEqual(64)
    expect(messages[0]?.role).toBe('user')
    expect(messages.at(-1)?.parts).toEqual([expect.objectContaining({ text: 'b' })])
    expect(AgentRequest.safeParse({ messages }).success).toBe(true)
    expect(bytesOf({ messages })).toBeLessThan(131_072)
  })
})

describe('trimMessagesForStorage', () => {
  it('keeps a conversation that fits', () => {
    const messages = [question('a'), answered(result(50_000))]
    expect(trimMessagesForStorage(messages)).toEqual(messages)
  })

  it('shortens the oldest results first, then drops the oldest messages', () => {
    const long = Array.from({ length: 20 }, () => [question('a'), answered(result(16_000))]).flat()
    const kept = trimMessagesForStorage(long)
    expect(kept).toHaveLength(long.length)
    expect(bytesOf(kept)).toBeLessThan(512 * 1_024)
    expect(kept.at(-1)).toEqual(long.at(-1))
    const longer = trimMessagesForStorage(Array.from({ length: 90 }, (_, at) => question(`${at}${'x'.repeat(8_000)}`)))
    expect(bytesOf(longer)).toBeLessThan(512 * 1_024)
    expect(longer.at(-1)?.parts).toEqual([expect.objectContaining({ text: expect.stringMatching(/^89x/) })])
  })
})
