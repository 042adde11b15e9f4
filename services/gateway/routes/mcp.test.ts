import { afterEach, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { maxMcpBodyBytes } from '#proto/mcp.ts'
import { signApiKey } from '../auth/keys/key-token.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const secret = 'the secret of the keys'
const keyWith = (...scopes: string[]) =>
  signApiKey({ jti: 'a'.repeat(16), sub: 'ada', label: 'laptop', scopes, iat: 0, exp: 4_102_444_799 }, secret)

let product: FakeProduct
const started = async (env: Record<string, string> = {}) => {
  product = await startFakeProduct({ mcp: {}, env: { RATE_LIMIT_MCP_PER_MIN: '1000', ...env } })
}
afterEach(() => product[Symbol.asyncDispose]())

const send = (headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(`${product.url}/api/mcp`, {
    method: 'POST',
    body: '{"id":1}',
    headers: { 'content-type': 'application/json', ...headers },
    ...init,
  })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const message = async (answer: Response) => ErrorResponse.parse(await answer.json()).error.message

describe('access to the MCP server', () => {
  it('is closed while nothing is configured', async () => {
    await started()
    for (const headers of [{}, bearer(keyWith('mcp')), bearer('x')]) {
      const answer = await send(headers)
      expect(answer.status).toBe(401)
      expect(await message(answer)).toContain('SVC_MCP_PUBLIC')
    }
  })

  it('is open with SVC_MCP_PUBLIC, with a warning at start and a debug line for each request', async () => {
    await started({ SVC_MCP_PUBLIC: 'true' })
    const levels = () =>
      product.logged.filter((line) => line.includes('SVC_MCP_PUBLIC is on')).map((line) => JSON.parse(line).level)
    expect(levels()).toEqual(['warn'])
    expect([(await send()).status, (await send(bearer('x'))).status]).toEqual([200, 200])
    expect(levels()).toEqual(['warn', 'debug', 'debug'])
  })

  it('is not reported as open at start while API keys close it', async () => {
    await started({ SVC_MCP_PUBLIC: 'true', SVC_API_KEY_SECRET: secret })
    expect(product.logged.join()).not.toContain('SVC_MCP_PUBLIC is on')
  })

  it('requires a key when keys are enabled, even with SVC_MCP_PUBLIC', async () => {
    await started({ SVC_API_KEY_SECRET: secret, SVC_MCP_PUBLIC: 'true' })
    const statuses = async (headers: Record<string, string>) => (await send(headers)).status
    expect(await statuses(bearer(keyWith('mcp')))).toBe(200)
    expect(await statuses({ 'x-api-key': keyWith('mcp') })).toBe(200)
    expect(await statuses(bearer(keyWith('read', 'write', 'agent')))).toBe(403)
    expect(await statuses({})).toBe(401)
    expect(await statuses(bearer(`${keyWith('mcp')}x`))).toBe(401)
    expect(await statuses(bearer('no key'))).toBe(401)
  })

  it('is not granted by proxy headers', async () => {
    const proxySecret = 'the secret of the proxy'
    await started({ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: proxySecret, SVC_API_KEY_SECRET: secret })
    expect((await send({ 'x-svc-proxy-secret': proxySecret, 'x-forwarded-user': 'ada' })).status).toBe(401)
  })

  it('is closed while the feature is disabled', async () => {
    await started({ SVC_FEATURE_MCP_ENABLED: 'false', SVC_MCP_PUBLIC: 'true' })
    expect((await send()).status).toBe(404)
  })

  it('returns a challenge without OAuth metadata, with an error only when credentials were sent', async () => {
    await started({ SVC_API_KEY_SECRET: secret, SVC_PUBLIC_URL: 'https://watch.example.com' })
    const challenge = 'Bearer realm="watchhouse"'
    for (const method of ['POST', 'GET', 'DELETE']) {
      const answer = await send({}, { method, body: method === 'POST' ? '{}' : null })
      expect(answer.headers.get('www-authenticate')).toBe(challenge)
    }
    const refused = await send(bearer('wrong'))
    expect(refused.headers.get('www-authenticate')).toBe(`${challenge}, error="invalid_token"`)
    const short = await send(bearer(keyWith('read')))
    expect(short.headers.get('www-authenticate')).toBe(`${challenge}, error="insufficient_scope", scope="mcp"`)
  })
})

describe('a page of another site', () => {
  const origin = 'https://tools.example.com'
  const answered = async (headers: Record<string, string>) => {
    const answer = await send({ origin, ...headers })
    return [answer.status, answer.headers.get('access-control-allow-origin'), answer.headers.get('set-cookie')]
  }

  it.each(['', 'https://other.example.com'])(
    'uses a public tool server, with %j as SVC_CORS_ORIGINS',
    async (origins) => {
      await started({ SVC_MCP_PUBLIC: 'true', SVC_CORS_ORIGINS: origins })
      expect(await answered({})).toEqual([200, '*', null])
      expect(await answered({ origin: 'null' })).toEqual([200, '*', null])
    },
  )

  it('is authenticated by a key, never by a cookie', async () => {
    await started({ SVC_API_KEY_SECRET: secret })
    const cookie = `watchhouse_key=${keyWith('mcp', 'write')}`
    expect(await answered(bearer(keyWith('mcp')))).toEqual([200, '*', null])
    expect(await answered({ 'x-api-key': keyWith('mcp') })).toEqual([200, '*', null])
    expect(await answered({ cookie })).toEqual([401, '*', null])
    expect(await answered({ cookie, ...bearer(`${keyWith('mcp')}x`) })).toEqual([401, '*', null])
    expect(await answered({ cookie, ...bearer(keyWith('read')) })).toEqual([403, '*', null])
  })

  it('stays anonymous on a public MCP server despite the cookie of the browser', async () => {
    await started({ SVC_MCP_PUBLIC: 'true', SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: 'shared' })
    const headers = { origin, cookie: `watchhouse_key=${keyWith('mcp')}; __session=a.b.c`, 'x-forwarded-user': 'ada' }
    expect(await (await send(headers)).json()).toMatchObject({ result: { subject: 'anonymous' } })
  })

  it('gets a preflight response with the allowed headers', async () => {
    await started({ SVC_API_KEY_SECRET: secret })
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,mcp-method,mcp-name,mcp-param-region',
    }
    const answer = await send(headers, { method: 'OPTIONS', body: null })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-headers')).toBe(headers['access-control-request-headers'])
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })
})

describe('a message to the MCP server', () => {
  it('is forwarded unchanged, with only the headers of the protocol', async () => {
    await started({ SVC_API_KEY_SECRET: secret })
    const body = '{"jsonrpc": "2.0", broken ö'
    const headers = {
      ...bearer(keyWith('mcp')),
      cookie: 'a=b',
      'mcp-method': 'tools/list',
      accept: 'text/event-stream',
    }
    const answer: unknown = await (await send(headers, { body })).json()
    const spoken = { accept: 'text/event-stream', 'content-type': 'application/json', 'mcp-method': 'tools/list' }
    expect(answer).toEqual({ jsonrpc: '2.0', result: { method: 'POST', headers: spoken, body, subject: 'ada' } })
  })

  it.each([
    ['a short answer in one piece', 'short', { 'content-length': '5' }, '5'],
    ['an answer of unknown length as it comes', 'short', {}, null],
    ['a long answer as it comes', 'x'.repeat(300_000), { 'content-length': '300000' }, '300000'],
  ])('is returned unchanged: %s', async (_what, text, headers, length) => {
    product = await startFakeProduct({
      mcp: { http: async () => ({ head: { status: 200, headers }, frames: framesOf(text) }) },
      env: { SVC_MCP_PUBLIC: 'true' },
    })
    const answer = await send()
    expect([answer.headers.get('content-length'), await answer.text()]).toEqual([length, text])
  })

  it('is returned unchanged when the head contains all of it', async () => {
    const whole = '{"jsonrpc":"2.0","id":1,"result":"ö"}'
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(whole)) }
    product = await startFakeProduct({
      mcp: {
        http: async ({ wholeInHead }) => ({
          head: { status: 400, headers, ...(wholeInHead && { whole }) },
          frames: framesOf(''),
        }),
      },
      env: { SVC_MCP_PUBLIC: 'true' },
    })
    const answer = await send()
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([400, '38', whole])
  })

  it('is at most 512 KiB long', async () => {
    await started({ SVC_MCP_PUBLIC: 'true' })
    expect((await send({}, { body: 'x'.repeat(maxMcpBodyBytes) })).status).toBe(200)
    expect((await send({}, { body: 'x'.repeat(maxMcpBodyBytes + 1) })).status).toBe(413)
  })

  it('is rejected when JSON escaping makes it too long for the bus', async () => {
    await started({ SVC_MCP_PUBLIC: 'true' })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: '"'.repeat(200_000) } })
    const answer = await send({}, { body })
    expect([body.length < maxMcpBodyBytes, answer.status]).toEqual([true, 413])
    expect(ErrorResponse.parse(await answer.json()).error).toMatchObject({ type: 'too-large' })
  })

  it.each([
    ['a byte that begins no character', Buffer.from([0xff])],
    ['half a character', Buffer.from('ö').subarray(0, 1)],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['a longer form of a slash', Buffer.from([0xc0, 0xaf])],
    ['UTF-16', Buffer.from('\ufeffö', 'utf16le')],
  ])('is rejected when it is not valid UTF-8: %s', async (_what, bytes) => {
    const received: string[] = []
    product = await startFakeProduct({
      mcp: {
        http: async ({ body }) => {
          received.push(body)
          return { head: { status: 200, headers: {} }, frames: framesOf('') }
        },
      },
      env: { SVC_MCP_PUBLIC: 'true' },
    })
    const body = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"'), bytes, Buffer.from('"}')])
    const answer = await send({}, { body })
    expect(answer.status).toBe(400)
    expect(await message(answer)).toBe('the body is not UTF-8')
    expect(received).toEqual([])
  })

  it('has its own rate limit by client address', async () => {
    await started({ SVC_MCP_PUBLIC: 'true', RATE_LIMIT_MCP_PER_MIN: '2' })
    const statuses = [await send(), await send(), await send()].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

async function* framesOf(text: string) {
  const half = Math.ceil(text.length / 2)
  for (const part of [text.slice(0, half), text.slice(half)]) yield Buffer.from(part)
  return {}
}

describe('messages of the web UI', () => {
  const sendMessage = (headers: Record<string, string> = {}, body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}') =>
    fetch(`${product.url}/api/v1/mcp/messages`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  const cookie = (...scopes: string[]) => ({ cookie: `watchhouse_key=${keyWith(...scopes)}` })

  it('are sent with the session of the user, which /api/mcp ignores', async () => {
    await started({ SVC_API_KEY_SECRET: secret })
    const answer = await sendMessage({ ...cookie('mcp'), 'mcp-method': 'tools/list' })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      result: { method: 'POST', subject: 'ada', headers: { 'mcp-method': 'tools/list' } },
    })
    expect((await send(cookie('mcp'))).status).toBe(401)
    expect((await sendMessage(cookie('read', 'write'))).status).toBe(403)
    expect((await sendMessage()).status).toBe(401)
    expect((await sendMessage({ ...cookie('mcp'), 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  it('need no sign-in where none is configured, but not from pages of other sites', async () => {
    await started()
    expect((await sendMessage()).status).toBe(200)
    expect((await sendMessage({ origin: 'https://evil.example' })).status).toBe(403)
    // A browser sends this media type to other sites without a preflight request.
    expect((await sendMessage({ 'content-type': 'text/plain' })).status).toBe(415)
    expect((await sendMessage({}, '{"id":1}')).status).toBe(400)
  })
})
