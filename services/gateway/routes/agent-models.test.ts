import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { BeginSignInResponse, ModelsResponse, ProbeResponse } from '#proto/http/models.ts'
import { modelRequests } from '../testing/agent.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct({
    agent: {},
    env: { SVC_PUBLIC_URL: 'https://watch.example', RATE_LIMIT_AGENT_PER_MIN: '1000' },
  })
})
afterAll(() => product[Symbol.asyncDispose]())

const send = async (method: string, path: string, body?: unknown) => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(product.url + path, { method, redirect: 'manual', ...sent })
  const text = await response.text()
  return { status: response.status, location: response.headers.get('location'), body: text && JSON.parse(text) }
}

describe('language models', () => {
  it('are listed with the default model', async () => {
    const { status, body } = await send('GET', '/api/v1/agents/models')
    expect(status).toBe(200)
    expect(ModelsResponse.parse(body)).toMatchObject({
      data: { defaultModel: 'gateway_a:gateway_a/free', configuredProviders: ['gateway_a'] },
      metadata: { count: 1 },
    })
  })

  it('use the account of the caller after the sign-in with AnyRouter', async () => {
    const startedSignIn = await send('POST', '/api/v1/agents/sign-in', {})
    const { url } = BeginSignInResponse.parse(startedSignIn.body).data
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      redirect_uri: 'https://watch.example/api/v1/agents/sign-in/callback',
      return_to: '/agents',
    })
    const page = 'https://watch.example/agents?chat=1&model-sign-in='
    const back = modelRequests['GET /api/v1/agents/sign-in/callback']?.url ?? ''
    expect(await send('GET', back)).toMatchObject({ status: 302, location: `${page}done#end` })
    const refused = await send('GET', back.replace('code=c', 'error=access_denied'))
    expect(refused).toMatchObject({ status: 302, location: `${page}refused#end` })
  })

  it.each([
    ['POST', '/api/v1/agents/sign-in', { return: 'https://evil.net/' }, 400, 'return'],
    ['POST', '/api/v1/agents/sign-in', { return: '//evil.net/' }, 400, 'return'],
    ['POST', '/api/v1/agents/sign-in', { retrun: '/' }, 400, 'retrun'],
    ['GET', '/api/v1/agents/sign-in/callback?code=c', undefined, 400, 'state'],
    [
      'GET',
      `/api/v1/agents/sign-in/callback?code=c&state=${'x'.repeat(43)}`,
      undefined,
      409,
      'started by another user',
    ],
  ])('reject %s %s %j', async (method, path, body, status, says) => {
    const answered = await send(method, path, body)
    expect(answered.status).toBe(status)
    expect(ErrorResponse.parse(answered.body).error.message).toContain(says)
  })
})

describe('an MCP server of a caller', () => {
  const server = { id: 'docs', name: 'Docs', endpoint: 'https://docs.example.com/mcp' }

  it('is probed, and the response says why it cannot be used', async () => {
    const { status, body } = await send('POST', '/api/v1/mcp/probe', server)
    expect(status).toBe(200)
    expect(ProbeResponse.parse(body).data).toMatchObject({ ok: false, error: 'Docs cannot be reached' })
  })

  it.each([
    [{ ...server, id: 'a b' }, 'id'],
    [{ ...server, id: '' }, 'id'],
    [{ ...server, name: 'a\nb' }, 'name'],
    [{ ...server, endpoint: 'docs' }, 'endpoint'],
    [{ ...server, endpoint: 'file:///etc/passwd' }, 'endpoint'],
    [{ ...server, headers: {} }, 'headers'],
    [{}, 'id'],
  ])('is rejected with the name of the invalid parameter: %j', async (body, parameter) => {
    const answered = await send('POST', '/api/v1/mcp/probe', body)
    expect(answered.status).toBe(400)
    expect(ErrorResponse.parse(answered.body).error.message).toContain(parameter)
  })
})
