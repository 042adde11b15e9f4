import { describe, expect, it } from 'vitest'
import { AgentRequest } from '#proto/http/agent.ts'
import { keepable, sent } from './fitting.ts'
import { personSaid, type Message, type Part } from './message.ts'

const result = (length: number): Part => ({
  type: 'tool-query',
  toolCallId: 'c',
  state: 'output-available',
  input: {},
  output: { text: 'ß'.repeat(length) },
})
const answered = (...parts: Part[]): Message => ({ id: 'a', role: 'assistant', parts })
const asked = (text: string) => personSaid('q', text)
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

describe('what is sent along with a question', () => {
  it('is all that a model reads', () => {
    const thought: Part = { type: 'reasoning', text: 'Hm.', state: 'done' }
    const [, answer] = sent([asked('a'), answered(thought, result(1), { type: 'data-usage', data: {} }), asked('b')])
    expect(answer?.parts).toEqual([expect.objectContaining({ type: 'tool-query', output: { text: 'ß' } })])
  })

  it.each([
    ['many messages', Array.from({ length: 80 }, () => [asked('a'), answered(result(1))]).flat()],
    ['long answers', Array.from({ length: 9 }, () => [asked('a'), answered(...Array(12).fill(result(9_000)))]).flat()],
    ['answers of many parts', [asked('a'), answered(...Array.from({ length: 300 }, () => result(1)))]],
  ])('is the latest of %s, from a question on', (_what, before) => {
    const messages = sent([...before, asked('b')])
    expect(messages.length).toBeGreaterThan(2)
    expect(messages.length).toBeLessThanOrEqual(64)
    expect(messages[0]?.role).toBe('user')
    expect(messages.at(-1)?.parts).toEqual([expect.objectContaining({ text: 'b' })])
    expect(AgentRequest.safeParse({ messages }).success).toBe(true)
    expect(bytesOf({ messages })).toBeLessThan(131_072)
  })
})

describe('what is kept of a conversation', () => {
  it('is all of it, as long as it fits', () => {
    const messages = [asked('a'), answered(result(50_000))]
    expect(keepable(messages)).toEqual(messages)
  })

  it('has the results of the oldest answers cut, and then the latest messages alone', () => {
    const long = Array.from({ length: 20 }, () => [asked('a'), answered(result(16_000))]).flat()
    const kept = keepable(long)
    expect(kept).toHaveLength(long.length)
    expect(bytesOf(kept)).toBeLessThan(512 * 1_024)
    expect(kept.at(-1)).toEqual(long.at(-1))
    const longer = keepable(Array.from({ length: 90 }, (_, at) => asked(`${at}${'x'.repeat(8_000)}`)))
    expect(bytesOf(longer)).toBeLessThan(512 * 1_024)
    expect(longer.at(-1)?.parts).toEqual([expect.objectContaining({ text: expect.stringMatching(/^89x/) })])
  })
})
