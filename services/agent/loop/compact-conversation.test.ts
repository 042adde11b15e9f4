import { describe, expect, it } from 'vitest'
import { AnswerFailure } from './answer-failure.ts'
import { compactConversation } from './model-steps.ts'
import { reminderPrefix } from './prompt.ts'

describe('compacting a conversation', () => {
  const result = (id: string) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: `<data>${id.repeat(4_000)}</data>`,
  })
  const results = [...'abcdefgh'].map(result)

  it('truncates the oldest results first and keeps those of the current question', () => {
    const length = JSON.stringify(results).length
    const fitting = compactConversation(results, {
      contextTokens: Math.ceil((length - 5_000) / 3.5 / 0.7),
      extraCharacters: 0,
    })
    expect(fitting.map((message) => JSON.stringify(message).length > 3_000)).toEqual([
      false,
      false,
      ...Array(6).fill(true),
    ])
    expect(fitting[0]?.content).toMatch(/^<data>a+…<\/data>\nThe rest was dropped/)
  })

  it('truncates results of the current question if necessary', () => {
    const fitting = compactConversation(results, { contextTokens: 4_000, extraCharacters: 0 })
    expect(fitting.map((message) => JSON.stringify(message).length > 3_000)).toEqual([...Array(7).fill(false), true])
  })

  it('drops earlier questions with their answers, and never the current one', () => {
    const question = (content: string) => ({ role: 'user' as const, content })
    const said = (content: string) => ({ role: 'assistant' as const, content })
    const system = { role: 'system' as const, content: 'x' }
    const call = { id: 'a', type: 'function' as const, function: { name: 'query', arguments: '{}' } }
    const [a] = results
    const before = [
      question('1'),
      { ...said(''), tool_calls: [call] },
      a,
      said('x'.repeat(9_000)),
      question('2'),
      said('b'),
    ]
    const atHand = [question('3'), said('c'), question(`${reminderPrefix} Go on.`)]
    const all = [system, ...before, ...atHand].flatMap((each) => each ?? [])
    expect(compactConversation(all, { contextTokens: 1_000, extraCharacters: 0 })).toEqual([system, ...all.slice(5)])
    expect(() => compactConversation(all, { contextTokens: 10, extraCharacters: 0 })).toThrow(AnswerFailure)
  })

  it('truncates between characters, since gateways reject lone surrogates', () => {
    const emoji = results.flatMap((each) => [
      { ...each, content: '😀'.repeat(2_000) },
      { ...each, content: `x${'😀'.repeat(2_000)}` },
    ])
    const length = JSON.stringify(emoji).length
    const fitting = compactConversation(emoji, {
      contextTokens: Math.ceil((length - 20_000) / 3.5 / 0.7),
      extraCharacters: 0,
    })
    expect(fitting.slice(0, 2).map(({ content }) => content)).toEqual([
      expect.stringContaining('The rest was dropped'),
      expect.stringContaining('The rest was dropped'),
    ])
    expect(fitting.every(({ content }) => String(content).isWellFormed())).toBe(true)
  })

  it('returns a short conversation unchanged', () => {
    expect(compactConversation(results, { contextTokens: 100_000, extraCharacters: 0 })).toEqual(results)
  })

  it('fails when it is still too long', () => {
    expect(() => compactConversation(results, { contextTokens: 1_000, extraCharacters: 0 })).toThrow(AnswerFailure)
  })
})
