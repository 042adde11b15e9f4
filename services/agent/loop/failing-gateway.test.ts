import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findLastQuestion, type ModelScript, countResponses } from '../testing/model-script.ts'
import { scriptedApiKey } from '../testing/scripted-gateway.ts'
import {
  findLastData,
  filterChunksByType,
  createUserMessage,
  startAgent,
  type TestAgent,
  joinChunkText,
} from '../testing/start-agent.ts'

let agent: TestAgent
const play = (script: ModelScript) => agent.gateway.play(script)
const call = (name: string, input: Record<string, unknown> | string = {}) => ({ say: [{ call: name, with: input }] })
const say = (text: string) => ({ say: [{ text }] })
const failureOf = async (question = 'Is it well?') => findLastData((await agent.run(question)).chunks, 'data-error')

beforeEach(async () => {
  agent = await startAgent({ script: [say('yes')] })
})
afterEach(async () => {
  const { violations } = agent.gateway
  if (violations.length > 0) throw new Error(`a strict gateway would reject this: ${violations.join('; ')}`)
  if (agent.logged.join('\n').includes(scriptedApiKey)) throw new Error('the log contains the key')
  await agent[Symbol.asyncDispose]()
})

describe('a model gateway that fails', () => {
  it.each([
    [401, 'provider-key-refused', false],
    [402, 'provider-out-of-credit', false],
    [404, 'model-not-found', false],
    [429, 'provider-rate-limited', true],
    [500, 'provider-failed', true],
    [503, 'provider-failed', true],
  ] as const)('with status %i is reported as %s', async (status, code, retryable) => {
    play([{ status, headers: { 'retry-after': '0' } }])
    const { chunks } = await agent.run('Is it well?')
    expect(findLastData(chunks, 'data-error')).toMatchObject({ code, retryable, provider: 'gateway_a' })
    expect(chunks.map(({ type }) => type).slice(-2)).toEqual(['error', 'finish'])
    expect(JSON.stringify(chunks)).not.toContain(scriptedApiKey)
  })

  it('with a retry delay is reported without a retry', async () => {
    agent.env.SVC_AGENT_STEP_SECONDS = '1'
    play([{ status: 429, headers: { 'retry-after': '40' } }])
    expect(await failureOf()).toMatchObject({ code: 'provider-rate-limited', retryAfterMs: 40_000 })
    expect(agent.gateway.requests).toHaveLength(1)
  })

  const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
  const chunk = (delta: unknown, reason: unknown = null) =>
    event({ id: 'c', choices: [{ index: 0, delta, finish_reason: reason }] })
  const half = { index: 0, id: 'a', type: 'function', function: { name: 'query', arguments: '{"sq' } }
  const named = (name: unknown, given: unknown = '{}') => ({
    tool_calls: [{ ...half, function: { name, arguments: given } }],
  })

  it.each([
    ['invalid JSON', { raw: 'data: {"id": oops\n\n' }, 'provider-garbled', true],
    ['no events at all', { raw: '<html>welcome</html>' }, 'provider-garbled', true],
    ['a null chunk', { raw: event(null) }, 'provider-garbled', true],
    ['choices that are not a list', { raw: event({ choices: {} }) }, 'provider-garbled', true],
    ['a null choice', { raw: event({ choices: [null] }) }, 'provider-garbled', true],
    ['text that is a number', { raw: chunk({ content: 5 }, 'stop') }, 'provider-garbled', true],
    ['tool calls that are not a list', { raw: chunk({ tool_calls: {} }, 'tool_calls') }, 'provider-garbled', true],
    ['a tool whose name is a number', { raw: chunk(named(5), 'tool_calls') }, 'provider-garbled', true],
    ['an error as finish reason', { raw: chunk({ content: 'It is' }, 'error') }, 'provider-failed', true],
    [
      'an answer that stops in the middle',
      { say: [{ text: 'It is' }], ending: 'cut' as const },
      'provider-cut-off',
      true,
    ],
    ['an incomplete tool call', { raw: chunk({ tool_calls: [half] }) }, 'provider-cut-off', true],
    [
      'an error in the stream',
      { raw: 'data: {"error":{"code":429,"message":"slow down"}}\n\n' },
      'provider-rate-limited',
      true,
    ],
    ['a filtered response', { say: [], ending: 'content_filter' as const }, 'model-refused', false],
    ['an empty response', { say: [] }, 'empty-answer', true],
    ['endless tool calls', call('query', { sql: 'SELECT 1' }), 'step-limit', false],
    ['arguments that are not JSON', call('query', '{"sql": SELECT'), 'unusable-tool-calls', true],
    ['unknown tools', call('drop_everything'), 'unusable-tool-calls', true],
    ['invalid arguments', call('search_tools', { topic: 5 }), 'unusable-tool-calls', true],
  ])('with %s is reported', async (_what, turn, code, retryable) => {
    play([turn])
    const { chunks, message } = await agent.run('Is it well?')
    expect(findLastData(chunks, 'data-error')).toMatchObject({ code, retryable })
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'error' })
    expect(message?.parts.filter((part) => 'state' in part && part.state === 'streaming')).toEqual([])
  })

  it('without a response is reported', async () => {
    agent.env.SVC_AGENT_STEP_SECONDS = '1'
    play([{ silent: true }])
    expect(await failureOf()).toMatchObject({ code: 'provider-timeout', retryable: true })
    await expect.poll(() => agent.gateway.abandoned).toBe(1)
  })

  it('that stops in the middle of a response is reported after the idle limit', async () => {
    agent.env.SVC_AGENT_STEP_SECONDS = '1'
    play([{ say: [{ text: 'It is' }], ending: 'stall' }])
    const { chunks } = await agent.run('Is it well?')
    expect(findLastData(chunks, 'data-error')).toMatchObject({
      code: 'provider-timeout',
      message: expect.stringContaining('stopped responding'),
      retryable: true,
    })
    expect(findLastData(chunks, 'data-usage')).toMatchObject({ steps: 1, outputTokens: 2 })
    expect(joinChunkText(chunks)).toBe('It is')
  })

  it('may respond for longer than the idle limit', async () => {
    agent.env.SVC_AGENT_STEP_SECONDS = '1'
    play([{ say: [{ reasoning: 'hm hm hm hm hm hm hm hm' }, { text: 'well' }], tokensPerSecond: 6 }])
    const { chunks } = await agent.run('Is it well?')
    expect([findLastData(chunks, 'data-error'), joinChunkText(chunks)]).toEqual([undefined, 'well'])
  })

  const refusal = 'I cannot help with that.'
  it.each([
    ['streamed', { say: [{ refusal }] }],
    ['sent as a whole', { raw: event({ choices: [{ message: { refusal }, finish_reason: 'stop' }] }) }],
    ['filtered', { say: [{ text: refusal }], ending: 'content_filter' as const }],
  ])('shows a refusal of the model that is %s', async (_what, turn) => {
    play([turn])
    const { chunks } = await agent.run('Is it well?')
    expect(joinChunkText(chunks)).toBe(refusal)
    expect(findLastData(chunks, 'data-error')).toMatchObject({
      code: 'model-refused',
      message: expect.stringContaining('the model refused to answer'),
      retryable: false,
    })
    expect(agent.gateway.requests).toHaveLength(1)
  })

  it.each([
    ['between tags', { content: '<think>Maybe [e1].</think>\n\nIt is well.' }],
    ['as reasoning', { reasoning: 'Maybe [e1].', content: 'It is well.' }],
    ['as reasoning_content', { reasoning_content: 'Maybe [e1].', content: 'It is well.' }],
  ])('may send reasoning %s, which is neither text, nor a claim, nor history', async (_what, delta) => {
    play([{ raw: chunk(delta, 'stop') }])
    const { chunks, message } = await agent.run('Is it well?')
    expect(joinChunkText(chunks)).toBe('It is well.')
    expect(filterChunksByType(chunks, 'reasoning-delta')).toMatchObject([{ delta: 'Maybe [e1].' }])
    expect(findLastData(chunks, 'data-claims')).toMatchObject({ claims: [], unknown: [] })
    const question = createUserMessage('And now?')
    await agent.run({
      messages: [createUserMessage('a'), { role: 'assistant', parts: message?.parts ?? [] }, question],
    })
    expect(agent.gateway.requests.at(-1)?.messages.slice(1)).toMatchObject([
      { content: 'a' },
      { content: 'It is well.' },
      { content: 'And now?' },
    ])
  })

  it('may send several tool calls with the same index or without an index', async () => {
    const whole = (id: string) => ({ ...half, id, function: { name: 'query', arguments: `{"sql":"${id}"}` } })
    const { index: _index, ...bare } = whole('c')
    const first = { raw: chunk({ tool_calls: [whole('a')] }) + chunk({ tool_calls: [whole('b'), bare] }, 'tool_calls') }
    play([first, say('three')])
    const { chunks } = await agent.run('Three things')
    expect(filterChunksByType(chunks, 'tool-output-available')).toHaveLength(3)
  })

  it.each([
    ['a lone surrogate', { content: 'It is \ud83d', ...named('query') }],
    ['an invalid tool name', named('functions.query')],
    ['a very long tool name', named('query'.repeat(100))],
    ['no tool name', named(undefined)],
    ['arguments that are not an object', named('query', '[1]')],
    ['arguments of a lone surrogate', named('query', '{"sql":"\ud83d"}')],
  ])('may send %s without breaking this answer or the next one', async (_what, delta) => {
    play((request) =>
      countResponses(request) === 0 && findLastQuestion(request) === 'a' ? { raw: chunk(delta, 'stop') } : say('b'),
    )
    const { chunks, message } = await agent.run('a')
    expect(findLastData(chunks, 'data-error')).toBeUndefined()
    const messages = [
      createUserMessage('a'),
      { role: 'assistant', parts: message?.parts ?? [] },
      createUserMessage('c'),
    ]
    expect(joinChunkText((await agent.run({ messages })).chunks)).toBe('b')
  })

  it('may send arguments as an object and text in parts', async () => {
    const part = { type: 'text', text: 'I look. ' }
    play([{ raw: chunk({ content: [part], ...named('query', { sql: 'SELECT 1' }) }, 'tool_calls') }, say('one')])
    const { chunks } = await agent.run('Look')
    expect(filterChunksByType(chunks, 'tool-input-available')).toMatchObject([{ input: { sql: 'SELECT 1' } }])
    expect(joinChunkText(chunks)).toBe('I look. one')
  })

  it('is aborted when the arguments are too long', async () => {
    const endless = { ...half, function: { name: 'query', arguments: 'x'.repeat(200_000) } }
    play([{ raw: chunk({ tool_calls: [endless] }) }])
    expect(await failureOf()).toMatchObject({ code: 'unusable-tool-calls' })
  })
})
