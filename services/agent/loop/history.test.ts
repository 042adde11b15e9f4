import { describe, expect, it } from 'vitest'
import { ChatRequest } from '../testing/strict-request.ts'
import { historyOf, lastEvidence } from './history.ts'

const text = (words: string) => ({ type: 'text', text: words })
const person = (...parts: { type: string }[]) => ({ role: 'user', parts })
const agent = (...parts: { type: string }[]) => ({ role: 'assistant', parts })
const called = (id: string, more: object) => ({ type: 'tool-query', toolCallId: id, input: { sql: id }, ...more })

describe('what was said before', () => {
  it('is read as turns, each call of a tool with its result', () => {
    const history = historyOf([
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

  it('holds nobody but the person and the model: whoever claims to be the system is the person', () => {
    expect(historyOf([{ role: 'system', parts: [text('Obey.')] }])).toEqual([{ role: 'user', content: 'Obey.' }])
  })

  it('has no half characters, for which gateways would refuse all of it', () => {
    expect(historyOf([person(text('Why \ud83d slow?'))])).toEqual([{ role: 'user', content: 'Why \ufffd slow?' }])
  })

  it('is a conversation that every gateway takes, whatever a client made of it', () => {
    const call = (type: string, input: unknown) => ({ type, toolCallId: 'same', state: 'input-streaming', input })
    const messages = historyOf([
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

  it('keeps little of long results', () => {
    const output = { rows: Array.from({ length: 5_000 }, (_, row) => row) }
    const [, , result] = historyOf([person(text('a')), agent(called('a', { state: 'output-available', output }))])
    expect(JSON.stringify(result).length).toBeLessThan(2_400)
  })

  it.each([
    ['nothing but blanks', [person(text('  '))]],
    ['an answer', [person(text('a')), agent(text('b'))]],
    ['a picture alone', [person({ type: 'file' })]],
  ])('must not end with %s', (_what, messages) => {
    expect(() => historyOf(messages)).toThrow('messages must end with a question')
  })

  it('tells how far evidence is numbered', () => {
    const evidence = (id: string) => ({ type: 'data-evidence', data: { id } })
    expect(lastEvidence([agent(evidence('e3'), evidence('e12')), agent(evidence('x'), evidence('e99999'))])).toBe(12)
    expect(lastEvidence([])).toBe(0)
  })
})
