import { createClock } from '#shared/time/clock.ts'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { conversationLimits } from '#proto/conversations.ts'
import { AuditResponse } from '#proto/http/audit.ts'
import { ConversationResponse, ConversationsResponse, StoreConversationResponse } from '#proto/http/conversations.ts'
import { type FakeProduct, startFakeProduct, createWebBuild } from '../testing/fake-product.ts'

const base = '/api/v1/conversations'
const idp = { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://clerk.example.com', SVC_IDP_PUBLIC_READ: 'yes' }
const person: Identity = { kind: 'user', subject: 'user_ada', features: 'all' }
const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Why?' }] }

const folders: string[] = []
let webDirectory: string
beforeAll(async () => {
  webDirectory = await built('true')
})
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

const built = async (flag: string | null): Promise<string> => {
  const folder = await createWebBuild({ CLIENT_FEATURE_CONVERSATION_DB: flag })
  folders.push(folder)
  return folder
}

type Options = Parameters<typeof startFakeProduct>[0]
const start = (more: Options = {}) =>
  startFakeProduct({ env: idp, webDirectory, agent: {}, identify: async () => person, ...more })

const send = async ({ url }: FakeProduct, method: string, path: string, body?: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = body === undefined ? { method } : { method, body: text, headers: { 'content-type': 'application/json' } }
  const response = await fetch(url + path, init)
  const said = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, text: said, body: isJson ? JSON.parse(said) : undefined }
}

describe('conversations of a signed-in user', () => {
  it('have the position of their host, or null when it was removed', async () => {
    await using product = await start()
    const listed = ConversationsResponse.parse((await send(product, 'GET', `${base}?limit=1`)).body)
    expect(listed).toMatchObject({
      data: [{ id: 'c1', hostId: 1, host: 'logs' }],
      metadata: { count: 1, next: '1.c1' },
    })
    const one = ConversationResponse.parse((await send(product, 'GET', `${base}/c1`)).body)
    expect(one.data).toMatchObject({ hostId: 1, host: 'logs', messages: [{ role: 'user' }] })
    const lines = (await send(product, 'GET', `${base}/export`)).text.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { id: 'c1', hostId: 1 },
      { id: 'c2', hostId: null, host: null },
    ])
    expect(lines.join('')).not.toContain('hostKey":"logs')
  })

  it('are exported as a file with their number in a trailer', async () => {
    await using product = await start({ clock: createClock(() => Date.UTC(2026, 10, 21)) })
    const { headers } = await send(product, 'GET', `${base}/export`)
    expect(headers.get('content-type')).toBe('application/x-ndjson')
    expect(headers.get('content-disposition')).toBe('attachment; filename="conversations-2026-11-21.jsonl"')
    expect(headers.get('trailer')).toBe('X-Result-Rows')
  })

  it('are stored completely, with their host', async () => {
    await using product = await start()
    const kept = async (body: object) =>
      StoreConversationResponse.parse((await send(product, 'PUT', `${base}/c9`, body)).body)
    expect(await kept({ hostId: 1, title: ' Größe ', messages: [message] })).toMatchObject({
      data: { id: 'c9', title: 'Größe', hostId: 1 },
      metadata: { created: true },
    })
    expect((await kept({ messages: [message] })).data).toMatchObject({ hostId: null, host: null })
    expect(await send(product, 'PUT', `${base}/c9`, { hostId: 9, messages: [message] })).toMatchObject({
      status: 404,
      body: { error: { details: { parameter: 'hostId' } } },
    })
  })

  it('are audited when deleted', async () => {
    await using product = await start()
    expect((await send(product, 'DELETE', `${base}/c1`)).body.data).toEqual({ removed: 1 })
    expect((await send(product, 'DELETE', `${base}/none`)).status).toBe(404)
    expect((await send(product, 'DELETE', base)).body.data).toEqual({ removed: 1 })
    const { data } = AuditResponse.parse((await send(product, 'GET', '/api/v1/audit')).body)
    expect(data.map(({ action, result }) => `${action} ${result}`).toSorted()).toEqual([
      'remove-conversation done',
      'remove-conversation refused',
      'remove-conversations done',
    ])
  })

  it('have follow-up questions, which count towards the agent limit', async () => {
    await using product = await start({ env: { ...idp, RATE_LIMIT_AGENT_PER_MIN: '1' } })
    const answers = [
      await send(product, 'GET', `${base}/c1/follow-ups`),
      await send(product, 'GET', `${base}/c1/follow-ups`),
    ]
    expect(answers[0]?.body).toMatchObject({ data: { questions: ['Which table is it?'] } })
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
  })
})

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const part = (more: object) => ({ messages: [{ ...message, parts: [{ type: 'text', ...more }] }] })

describe('an invalid conversation', () => {
  it.each([
    ['c 1', { messages: [message] }, 400, 'id'],
    ['a'.repeat(65), { messages: [message] }, 400, 'id'],
    ['export', { messages: [message] }, 405, ''],
    ['backend', { messages: [message] }, 405, ''],
    ['%2e%2e', { messages: [message] }, 404, ''],
    ['user_eve:c1', { messages: [message] }, 400, 'id'],
    ['c1', {}, 400, 'messages'],
    ['c1', { messages: [] }, 400, 'messages'],
    ['c1', { messages: Array.from({ length: conversationLimits.messages + 1 }, () => message) }, 400, 'messages'],
    ['c1', { messages: [{ ...message, role: 'tool' }] }, 400, 'messages.0.role'],
    ['c1', { messages: [{ ...message, id: '' }] }, 400, 'messages.0.id'],
    ['c1', { messages: [{ ...message, parts: [{ text: 'x' }] }] }, 400, 'messages.0.parts.0.type'],
    ['c1', { messages: [{ ...message, parts: 'x' }] }, 400, 'messages.0.parts'],
    ['c1', part({ text: 'x'.repeat(conversationLimits.part) }), 400, 'messages.0.parts.0'],
    ['c1', { title: 'two\nlines', messages: [message] }, 400, 'title'],
    ['c1', { title: ' ', messages: [message] }, 400, 'title'],
    ['c1', { title: 'x'.repeat(201), messages: [message] }, 400, 'title'],
    ['c1', { hostId: '1', messages: [message] }, 400, 'hostId'],
    ['c1', { model: 'a\u0000b', messages: [message] }, 400, 'model'],
    ['c1', { evidence: [{ id: 'e1' }], messages: [message] }, 400, 'evidence.0.hostKey'],
    ['c1', { owner: 'user_eve', messages: [message] }, 400, 'owner'],
    ['c1', { messages: [{ ...message, parts: [{ type: 'x', text: 'x'.repeat(600_000) }] }] }, 413, ''],
    ['c1', '{"messages":', 400, ''],
    [
      'c1',
      `{"messages":[{"id":"m","role":"user","parts":[{"type":"x","data":${deep(40)}}]}]}`,
      400,
      'messages.0.parts.0',
    ],
    [
      'c1',
      `{"messages":[{"id":"m","role":"user","parts":[],"metadata":${deep(200_000)}}]}`,
      400,
      'messages.0.metadata',
    ],
  ])('with the id %.20s is rejected with the invalid parameter', async (id, body, status, parameter) => {
    await using product = await start()
    const answer = await send(product, 'PUT', `${base}/${id}`, body)
    expect(answer.status).toBe(status)
    if (parameter !== '') expect(answer.body.error.details).toMatchObject({ parameter })
  })

  it.each(['limit=0', 'limit=101', 'limit=ten', 'cursor=', 'cursor=x', 'cursor=1.%3A', 'owner=user_eve'])(
    'list with %s is refused',
    async (query) => {
      await using product = await start()
      const answer = await send(product, 'GET', `${base}?${query}`)
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { details: { parameter: query.split('=')[0] } } },
      })
    },
  )
})

describe('conversations are stored in the browser', () => {
  const browser = { backend: 'browser', supportsAiEnrichment: false }
  const everyRoute = [
    ['GET', base],
    ['DELETE', base],
    ['GET', `${base}/export`],
    ['GET', `${base}/c1`],
    ['PUT', `${base}/c1`],
    ['DELETE', `${base}/c1`],
    ['GET', `${base}/c1/follow-ups`],
  ] as const
  const statuses = async (product: FakeProduct) => {
    const answers = everyRoute.map(([method, path]) =>
      send(product, method, path, method === 'PUT' ? { messages: [message] } : undefined),
    )
    return new Set((await Promise.all(answers)).map(({ status }) => status))
  }

  it('unless the web was built with the feature, regardless of run-time settings', async () => {
    for (const flag of [null, 'false', 'maybe']) {
      await using product = await start({
        webDirectory: await built(flag),
        env: { ...idp, SVC_FEATURE_CONVERSATION_DB: 'true' },
      })
      expect((await send(product, 'GET', `${base}/backend`)).body).toEqual(browser)
      expect(await statuses(product)).toEqual(new Set([501]))
      expect((await send(product, 'GET', base)).text).toContain('SVC_FEATURE_CONVERSATION_DB')
    }
  })

  it.each(['none', 'proxy', 'trusted'])('with the provider %s', async (provider) => {
    const gate = { SVC_PROXY_AUTH_SECRET: 's'.repeat(32), SVC_TRUSTED_AUTH_SECRET: 's'.repeat(32) }
    await using product = await start({ env: { SVC_AUTH_PROVIDER: provider, ...gate } })
    expect((await send(product, 'GET', `${base}/backend`)).body).toEqual(browser)
    expect(await statuses(product)).toEqual(new Set([501]))
  })

  it('for callers who are not signed-in users', async () => {
    const stranger: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }
    const key: Identity = { kind: 'key', subject: 'user_ada', features: 'all', scopes: ['agent'] }
    for (const identity of [stranger, key]) {
      await using product = await start({ identify: async () => identity })
      expect((await send(product, 'GET', `${base}/backend`)).body).toEqual(browser)
      expect(await statuses(product)).toEqual(new Set([401]))
    }
  })

  it('and otherwise the backend has its exact name', async () => {
    await using product = await start()
    expect((await send(product, 'GET', `${base}/backend`)).body).toEqual({
      backend: 'convstore',
      supportsAiEnrichment: true,
    })
  })
})
