import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { type agent, type AgentMessage, AgentQuestion } from '#proto/agent.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { signApiKey } from '../auth/keys/key-token.ts'
import { fakeApprovalId, fakeRunId, fakeRuns } from '../testing/agent.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

type Agent = Partial<ServiceHandlers<typeof agent>>

let product: FakeProduct
let requests: { method: string; input: Record<string, unknown>; call: CallContext }[] = []
afterEach(async () => {
  requests = []
  await product[Symbol.asyncDispose]()
})

/** Starts a product with a fake agent, some of whose handlers are replaced, and records its requests. */
const started = async (replaced: Agent = {}, more: Parameters<typeof startFakeProduct>[0] = {}): Promise<void> => {
  const runs: Agent = { ...fakeRuns, ...replaced }
  const noted = Object.entries(runs).map(([method, handler]) => [
    method,
    (input: Record<string, unknown>, call: CallContext) => {
      requests.push({ method, input, call })
      // The bus has validated the input with the schema of this method.
      return (handler as (input: unknown, call: CallContext) => unknown)(input, call)
    },
  ])
  product = await startFakeProduct({ agent: Object.fromEntries(noted), ...more })
}

const createMessage = (role: 'user' | 'assistant', text: string): UIMessage => ({
  id: 'm1',
  role,
  parts: [{ type: 'text', text }],
})
const toolsOfAnswer = 3

/** Returns an answer as the AI SDK assembles it from the chunks of the agent. */
const assembleAnswer = async (number: number): Promise<UIMessage> => {
  const rows = Array.from({ length: 300 }, (_, row) => [String(row), 'x'.repeat(40)])
  const steps = Array.from({ length: toolsOfAnswer }, (_, index): UIMessageChunk[] => {
    const toolCallId = `call-${number}-${index}`
    const id = `e${(number - 1) * toolsOfAnswer + index + 1}`
    const output = { text: '300 rows', result: { rows }, evidence: [id] }
    const statement = { id, statement: 'SELECT 1', parameters: { text: 'y'.repeat(1_000) }, toolCallId, rows: 300 }
    return [
      { type: 'start-step' },
      { type: 'reasoning-start', id: `r${index}` },
      { type: 'reasoning-delta', id: `r${index}`, delta: 'Hm. '.repeat(500) },
      { type: 'reasoning-end', id: `r${index}` },
      { type: 'tool-input-available', toolCallId, toolName: 'query', input: { sql: 'SELECT 1' } },
      { type: 'tool-output-available', toolCallId, output },
      { type: 'data-evidence', id, data: statement },
      { type: 'data-chart', data: { kind: 'line', rows } },
      { type: 'finish-step' },
    ]
  })
  const chunks: UIMessageChunk[] = [
    { type: 'start', messageId: `m${number}` },
    ...steps.flat(),
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: `Answer ${number}.` },
    { type: 'text-end', id: 't' },
    { type: 'data-claims', id: 'claims', data: { claims: [], unknown: [], insufficient: false } },
    { type: 'finish', finishReason: 'stop' },
  ]
  const message = (await Array.fromAsync(readUIMessageStream({ stream: ReadableStream.from(chunks) }))).at(-1)
  if (message === undefined) throw new Error('the SDK assembled no message')
  return message
}
const json = { 'content-type': 'application/json' }
const send = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(`${product.url}/api/v1/agent${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const events = (text: string) => [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data)

describe('an agent request', () => {
  it('streams the UI messages of the AI SDK', async () => {
    await started()
    const answer = await send('', { message: 'Is it well?', hostId: 1 })
    expect(answer.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.headers.get('x-run-id')).toBe(fakeRunId)
    expect(events(await answer.text()).at(-1)).toBe('[DONE]')
    expect(requests[0]).toMatchObject({
      method: 'start',
      input: {
        hostKey: 'logs',
        hostId: 1,
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'Is it well?' }] }],
      },
    })
  })

  it('defaults to the first host', async () => {
    await started()
    await send('', { message: 'Is it well?' })
    expect(requests[0]).toMatchObject({ method: 'start', input: { hostKey: 'analytics', hostId: 0 } })
  })

  it('works with the published client, which resumes by chat id', async () => {
    await started()
    const transport = new DefaultChatTransport<UIMessage>({ api: `${product.url}/api/v1/agent` })
    const messages: UIMessage[] = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Is it well?' }] }]
    const sendRequest = {
      chatId: 'chat-1',
      messages,
      trigger: 'submit-message' as const,
      messageId: undefined,
      abortSignal: undefined,
    }
    const received = await Array.fromAsync(await transport.sendMessages(sendRequest))
    expect(received.map(({ type }) => type)).toEqual(['start', 'finish'])
    const again = await transport.reconnectToStream({ chatId: 'chat-1' })
    expect(await Array.fromAsync(again ?? [])).toEqual(received)
    expect(await transport.reconnectToStream({ chatId: 'chat-2' })).toBeNull()
  })

  it.each([
    ['nothing', {}, 400, 'message or messages is required'],
    ['both forms', { message: 'a', messages: [{ role: 'user', content: 'a' }] }, 400, 'but not both'],
    ['an empty question', { message: '' }, 400, 'message must not be empty'],
    ['a question that is too long', { message: 'x'.repeat(8_193) }, 400, 'message must have at most 8192'],
    ['messages of another shape', { messages: [{ text: 'a' }] }, 400, 'messages.0 must be a message'],
    ['a host that is no number', { message: 'a', hostId: '1' }, 400, 'hostId must be'],
    ['a host that there is not', { message: 'a', hostId: 9 }, 404, 'unknown host "9"'],
    ['a name of a chat with blanks', { message: 'a', id: 'a b' }, 400, 'id must be'],
    [
      'six tool servers',
      { message: 'a', mcpServers: Array.from({ length: 6 }, () => ({ id: 'a', name: 'a', endpoint: 'a' })) },
      400,
      'mcpServers must have at most 5',
    ],
    ['no JSON', '{"message":', 400, 'the body is not JSON'],
    ['a question of half a megabyte', { messages: [createMessage('user', 'x'.repeat(600_000))] }, 413, 'shorten it'],
  ])('with %s is rejected before a run starts', async (_what, body, status, sentence) => {
    await started()
    const answer = await send('', body)
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({ success: false, error: { message: expect.stringContaining(sentence) } })
    expect(requests.filter(({ method }) => method === 'start')).toEqual([])
  })

  it('is limited to SVC_AGENT_MAX_BODY_BYTES', async () => {
    await started({}, { env: { SVC_AGENT_MAX_BODY_BYTES: '2048' } })
    expect((await send('', { message: 'x'.repeat(1_900) })).status).toBe(200)
    const answer = await send('', { message: 'x'.repeat(2_100) })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({
      error: { type: 'too-large', message: expect.stringContaining('start a new conversation') },
    })
  })

  it('is rejected as a form', async () => {
    await started()
    expect((await send('', 'message=a', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415)
  })

  it('names the missing settings while no provider is configured', async () => {
    const details = { reason: 'provider-not-configured', set: ['LLM_API_KEY'] }
    await started({
      start: async () => {
        throw new ServiceError('unavailable', 'no model gateway has a key: set LLM_API_KEY', { details })
      },
    })
    const answer = await send('', { message: 'a' })
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      error: { type: 'provider-not-configured', message: expect.stringContaining('set LLM_API_KEY') },
    })
  })

  it('returns 503 with Retry-After while the agent is busy', async () => {
    await started({
      start: async () => {
        throw new ServiceError('busy', 'no room', { retryAfterMs: 2_000 })
      },
    })
    const answer = await send('', { message: 'a' })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  })
})

describe('a conversation of the published client', () => {
  /** Sends the messages as the client of the AI SDK does, and returns the messages that the agent receives. */
  const sendMessages = async (messages: UIMessage[]): Promise<AgentMessage[]> => {
    const transport = new DefaultChatTransport<UIMessage>({ api: `${product.url}/api/v1/agent` })
    const more = { trigger: 'submit-message' as const, messageId: undefined, abortSignal: undefined }
    await Array.fromAsync(await transport.sendMessages({ chatId: 'chat-1', messages, ...more }))
    return AgentQuestion.parse(requests.findLast(({ method }) => method === 'start')?.input).messages
  }

  it.each([5, 20, 60])('may have %i questions with tool results of the maximum size', async (questions) => {
    await started()
    const messages: UIMessage[] = []
    for (let number = 1; number <= questions; number += 1) {
      messages.push(createMessage('user', `Question ${number}?`))
      if (number < questions) messages.push(await assembleAnswer(number))
    }
    const received = await sendMessages(messages)
    expect(received.at(0)?.role).toBe('user')
    expect(received.at(-1)).toMatchObject({ parts: [{ type: 'text', text: `Question ${questions}?` }] })
    expect(received.length).toBeGreaterThanOrEqual(Math.min(questions * 2 - 1, 79))
    expect(JSON.stringify(received).length).toBeLessThan(512 * 1024)
    const parts = received.at(-2)?.parts ?? []
    const tools = parts.filter(({ type }) => type === 'tool-query')
    expect(tools).toHaveLength(toolsOfAnswer)
    expect(tools[0]).toMatchObject({ state: 'output-available', input: { sql: 'SELECT 1' }, truncated: true })
    expect(JSON.stringify(tools[0]?.output)).toMatch(/^\{"text":"300 rows","result":\{"rows":\[\["0","x/)
    expect([...new Set(parts.map(({ type }) => type))]).toEqual(['step-start', 'tool-query', 'data-evidence', 'text'])
    expect(parts.findLast(({ type }) => type === 'data-evidence')?.data).toEqual({
      id: `e${(questions - 1) * toolsOfAnswer}`,
    })
  })

  it('may have answers with hundreds of parts, endless nesting and unknown parts', async () => {
    await started()
    const output: unknown = JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`)
    const parts = Array.from({ length: 1_000 }, (_, index) => ({ type: 'text' as const, text: `Line ${index}.` }))
    const tool = { type: 'tool-query' as const, toolCallId: 'a', state: 'output-available' as const, input: {}, output }
    const file = { type: 'file' as const, mediaType: 'image/png', url: `data:image/png;base64,${'A'.repeat(500_000)}` }
    const answer: UIMessage = { id: 'm2', role: 'assistant', parts: [...parts, file, tool] }
    const received = await sendMessages([createMessage('user', 'a'), answer, createMessage('user', 'b')])
    expect(received[1]?.parts).toHaveLength(256)
    expect(received[1]?.parts.at(-1)).toMatchObject({ output: null, truncated: true })
  })
})

describe('a started run', () => {
  it('resumes after the last received event', async () => {
    await started()
    const answer = await send(`/${fakeRunId}/stream`, undefined, { 'last-event-id': '1' })
    expect(events(await answer.text())).toEqual(['{"type":"finish","finishReason":"stop"}', '[DONE]'])
    expect((await send(`/${fakeRunId}/stream`, undefined, { 'last-event-id': 'x' })).status).toBe(400)
    expect((await send('/no such run/stream')).status).toBe(400)
    expect((await send('/some-chat/stream')).status).toBe(204)
  })

  it('returns 410 when it has expired, and ends with run-lost when its process stops', async () => {
    let readings = 0
    await started({
      read: async () => {
        if (readings++ > 0) throw new ServiceError('gone', 'no such run')
        return { events: 'id: 1\ndata: {"type":"start"}\n\n', last: 1, ended: false }
      },
    })
    const lost = events(await (await send('', { message: 'a' })).text())
    expect(lost[1]).toContain('"type":"data-run-lost"')
    expect(lost.at(-1)).toBe('[DONE]')
    expect((await send(`/${fakeRunId}/stream`)).status).toBe(410)
  })

  it('retries reads after temporary failures', async () => {
    let readings = 0
    await started({
      read: async ({ after }) => {
        if (readings++ === 1) throw new ServiceError('timeout', 'late')
        const ended = readings > 2
        return {
          events: `id: ${after + 1}\ndata: ${ended ? '[DONE]' : '{"type":"start"}'}\n\n`,
          last: after + 1,
          ended,
        }
      },
    })
    const answer = await (await send('', { message: 'a' })).text()
    expect(events(answer)).toEqual(['{"type":"start"}', '[DONE]'])
  })

  it('is stopped by run id or chat id', async () => {
    await started()
    await (await send('', { message: 'a', id: 'chat-1' })).text()
    for (const id of [fakeRunId, 'chat-1']) {
      expect(await (await send(`/${id}/stop`, {})).json()).toMatchObject({ data: { stopped: true } })
    }
    expect(requests.filter(({ method }) => method === 'stop').map(({ input }) => input)).toEqual([
      { runId: fakeRunId },
      { runId: fakeRunId },
    ])
    expect((await send('/chat-2/stop', {})).status).toBe(410)
  })
})

describe('access to the agent', () => {
  const secret = 'a-secret-of-thirty-two-characters!'
  const token = 'a-token-that-programs-share'
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
  const statusOf = async (headers: Record<string, string> = {}) => (await send('', { message: 'a' }, headers)).status

  it('accepts AGENT_API_TOKEN while the agent requires authentication', async () => {
    await started({}, { env: { AGENT_API_TOKEN: token, SVC_FEATURE_AGENT_ACCESS: 'authenticated' } })
    expect(await statusOf()).toBe(401)
    expect(await statusOf(bearer(token))).toBe(200)
    expect(requests[0]?.call.identity).toMatchObject({ kind: 'key', subject: 'agent-api-token', scopes: ['agent'] })
    expect(await statusOf(bearer(`${token}x`))).toBe(401)
  })

  it('rejects AGENT_API_TOKEN while the agent is public and users sign in', async () => {
    await started({}, { env: { AGENT_API_TOKEN: token, SVC_API_KEY_SECRET: secret } })
    expect(await statusOf(bearer(token))).toBe(401)
  })

  it('accepts an API key with the scope "agent"', async () => {
    await started({}, { env: { SVC_API_KEY_SECRET: secret } })
    const key = (scopes: ('agent' | 'read')[]) =>
      bearer(signApiKey({ sub: 'ci', label: 'ci', jti: 'a'.repeat(16), iat: 0, exp: 4_102_444_799, scopes }, secret))
    expect(await statusOf(key(['agent']))).toBe(200)
    expect(await statusOf(key(['read']))).toBe(403)
  })

  it('rejects anonymous callers with read access only', async () => {
    const env = { SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLIC_READ: 'true', IDP_OAUTH_ISSUER: 'https://clerk.example.com' }
    await started({}, { env })
    expect(await statusOf()).toBe(401)
  })

  it('accepts guests in cloud mode, three times a day', async () => {
    const env = {
      SVC_CLOUD_MODE: 'true',
      IDP_OAUTH_ISSUER: 'https://clerk.example.com',
      RATE_LIMIT_AGENT_PER_MIN: '100',
    }
    await started({}, { env })
    const first = await send('', { message: 'a' })
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect([first.status, requests.length]).toEqual([401, 0])
    expect([await statusOf({ cookie }), await statusOf({ cookie }), await statusOf({ cookie })]).toEqual([
      200, 200, 200,
    ])
    expect(requests[0]?.call.identity.kind).toBe('guest')
    expect(await statusOf({ cookie })).toBe(429)
    expect((await send(`/${fakeRunId}/stream`, undefined, { cookie })).status).toBe(200)
  })
})

describe('a decision on an approval request', () => {
  const decide = (approved: unknown, id = fakeApprovalId) => send(`/approvals/${id}`, { approved })
  const outcomes = () => requests.filter(({ method }) => method === 'resolveApproval').map(({ input }) => input.outcome)

  it('runs the action on behalf of the approving caller, and audits it first', async () => {
    await started()
    const answer = await decide(true)
    expect(await answer.json()).toMatchObject({ data: { state: 'done' }, metadata: { approved: true } })
    const did = product.received.find(({ method }) => method === 'killQuery')
    expect(did).toMatchObject({ input: { hostKey: 'analytics', queryId: 'runaway' } })
    expect(outcomes()).toMatchObject([{ state: 'done', result: { state: 'done' } }])
    const audit: unknown = await (await fetch(`${product.url}/api/v1/audit`)).json()
    expect(audit).toMatchObject({
      data: [
        {
          action: 'kill-query',
          host: 'analytics',
          result: 'done',
          target: { queryId: 'runaway', approvalId: fakeApprovalId },
        },
      ],
    })
  })

  it('runs nothing when the request is denied', async () => {
    await started()
    expect(await (await decide(false)).json()).toMatchObject({ data: null, metadata: { approved: false } })
    expect(outcomes()).toEqual([{ state: 'denied' }])
    expect(requests.some(({ method }) => method === 'takeApproval')).toBe(false)
  })

  it('reports an error of the host to the caller and to the run', async () => {
    const approval = { tool: 'kill_query' as const, hostKey: 'analytics', input: { queryId: 'over' } }
    await started({ takeApproval: async () => approval })
    expect((await decide(true)).status).toBe(404)
    expect(outcomes()).toEqual([{ state: 'failed', message: 'no query over is running on host analytics' }])
  })

  it.each([
    ['that is no boolean', 'yes', fakeApprovalId, 400],
    ['on nothing', true, 'x', 400],
  ])('rejects %s', async (_what, approved, id, status) => {
    await started()
    expect((await decide(approved, id)).status).toBe(status)
    expect(requests).toEqual([])
  })

  it('requires write access to hosts', async () => {
    await started({}, { env: { SVC_FEATURE_ACTIONS_ENABLED: 'false' } })
    expect((await decide(true)).status).toBe(404)
    expect(requests).toEqual([])
  })
})
