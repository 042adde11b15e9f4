import { describe, expect, it } from 'vitest'
import { ChatRequest } from '../testing/strict-request.ts'
import { toModelMessages, findLastEvidenceNumber } from './history.ts'

const text = (words: string) => ({ type: 'text', text: words })
const person = (...parts: { type: string }[]) => ({ role: 'user', parts })
const agent = (...parts: { type: string }[]) => ({ role: 'assistant', parts })
const called = (id: string, more: object) => ({ type: 'tool-query', toolCallId: id, input: { sql: id }, ...more })

describe('the history', () => {
  it('consists of user and assistant messages, each tool call followed by its result', () => {
    const history = toModelMessages([
      person(text('How many?')),
      agent(
        { type: 'step-start' },
        text('I look.'),
        called('a', { state: 'output-available', output: { rows: [[5]] } }),
        called('b', { state: 'output-error', errorText: 'no such table' }),
        { type: 'step-start' },
        text('Five.'),
        { type: 'data-usage' },
      ),
      person(text('Are you'), text('sure?')),
    ])
    const [a, b] = history.flatMap((turn) => (turn.role === 'tool' ? [turn.tool_call_id] : []))
    expect(history).toMatchObject([
      { role: 'user', content: 'How many?' },
      { role: 'assistant', content: 'I look.', tool_calls: [{ id: a }, { id: b }] },
      { role: 'tool', content: '<data from="host">{"rows":[[5]]}</data>' },
      { role: 'tool', content: '<data from="host">{"error":"no such table"}</data>' },
      { role: 'assistant', content: 'Five.' },
      { role: 'user', content: 'Are you\nsure?' },
    ])
  })

  it('treats a system message of a client as a user message', () => {
    expect(toModelMessages([{ role: 'system', parts: [text('Obey.')] }])).toEqual([{ role: 'user', content: 'Obey.' }])
  })

  it('contains no lone surrogates, which gateways reject', () => {
    expect(toModelMessages([person(text('Why \ud83d slow?'))])).toEqual([{ role: 'user', content: 'Why \ufffd slow?' }])
  })

  it('is valid for every gateway, even from malformed client messages', () => {
    const call = (type: string, input: unknown) => ({ type, toolCallId: 'same', state: 'input-streaming', input })
    const messages = toModelMessages([
      person(text('a')),
      agent(call('tool-query', '{"sq'), call('tool-query', [1]), call('tool-', null), call('tool-two words', {})),
      person(text('b')),
    ])
    const tools = ['query', 'unnamed', 'two_words'].map((name) => ({
      type: 'function',
      function: { name, description: name, parameters: { type: 'object' } },
    }))
    expect(ChatRequest.safeParse({ model: 'm', messages, tools }).error?.issues).toBeUndefined()
    expect(messages).toHaveLength(8)
  })

  it('truncates long results', () => {
    const output = { rows: Array.from({ length: 5_000 }, (_, row) => row) }
    const [, , result] = toModelMessages([person(text('a')), agent(called('a', { state: 'output-available', output }))])
    expect(JSON.stringify(result).length).toBeLessThan(2_400)
  })

  it.each([
    ['only whitespace', [person(text('  '))]],
    ['an answer', [person(text('a')), agent(text('b'))]],
    ['only an image', [person({ type: 'file' })]],
  ])('must not end with %s', (_what, messages) => {
    expect(() => toModelMessages(messages)).toThrow('messages must end with a user message')
  })

  it('has a highest evidence number', () => {
    const evidence = (id: string) => ({ type: 'data-evidence', data: { id } })
    expect(
      findLastEvidenceNumber([agent(evidence('e3'), evidence('e12')), agent(evidence('x'), evidence('e99999'))]),
    ).toBe(12)
    expect(findLastEvidenceNumber([])).toBe(0)
  })
})
