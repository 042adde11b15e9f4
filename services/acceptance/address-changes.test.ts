import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AlertConfigIdResponse } from '#proto/http/alerts.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { testCertificate } from '../alert-dispatcher/channels/testing/certificate.ts'
import { type JsonResponse, fetchJson } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'

const startLimitMs = 120_000
const operatorToken = 'tk_of_the_operator_0123'
const ownToken = 'tk_saved_by_another_user_0123'

/** A received request, with its path and `Authorization` header. */
interface Sent {
  path: string
  authorization: string | undefined
}

interface Receiver {
  url: string
  sent: Sent[]
}

const startReceiver = async (opened: AsyncDisposableStack, isSecure: boolean): Promise<Receiver> => {
  const sent: Sent[] = []
  const take = ({ url: path = '', headers: { authorization } }: IncomingMessage) =>
    void sent.push({ path, authorization })
  const server = isSecure ? createSecureServer(testCertificate) : createServer()
  server.on('request', (request, response) => {
    take(request)
    request.resume().on('end', () => response.end('{}'))
  })
  const { origin, stop } = await listenOnLoopback(server)
  opened.defer(stop)
  return { url: isSecure ? origin.replace('http://127.0.0.1', 'https://localhost') : origin, sent }
}

describe('a secret whose address changes', () => {
  const opened = new AsyncDisposableStack()
  let product: Product
  let operators: Receiver
  let own: Receiver
  let foreign: Receiver
  let secure: Receiver
  let foreignSecure: Receiver

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-moved-secrets-'))
    opened.defer(() => rm(directory, { recursive: true }))
    const authority = join(directory, 'authority.pem')
    await writeFile(authority, testCertificate.cert)
    const receivers = [false, false, false, true, true].map((isSecure) => startReceiver(opened, isSecure))
    ;[operators, own, foreign, secure, foreignSecure] = (await Promise.all(receivers)) as [
      Receiver,
      Receiver,
      Receiver,
      Receiver,
      Receiver,
    ]
    product = opened.use(
      await startProduct({
        hosts: [{ url: 'http://127.0.0.1:9', name: 'down' }],
        env: {
          HEALTH_ALERT_PUSH_A_URL: `${operators.url}/alerts`,
          HEALTH_ALERT_PUSH_A_TOKEN: operatorToken,
          NODE_EXTRA_CA_CERTS: authority,
          SVC_ALLOW_PRIVATE_HOSTS: 'true',
          SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}`,
          SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator, thirty-two',
        },
      }),
    )
  }, startLimitMs)
  afterAll(() => opened.disposeAsync())
  beforeEach(() => {
    for (const { sent } of [operators, own, foreign, secure, foreignSecure]) sent.length = 0
  })

  const send = (method: string, path: string, body: unknown): Promise<JsonResponse> =>
    fetchJson(`${product.url}/api/v1/health/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const save = (settings: object) => send('PUT', 'alert-config/channels/push-a', { settings })
  const test = async (channel: string) =>
    expect(await send('POST', `channels/${channel}/test`, {})).toMatchObject({ status: 200 })
  const refused = (answer: JsonResponse, parameter: string) => {
    expect(answer.status).toBe(400)
    const { error } = ErrorResponse.parse(answer.body)
    expect(error).toMatchObject({ type: 'invalid', details: { parameter } })
    expect(error.message).toMatch(new RegExp(`^${parameter.replace('.', '\\.')} must be set again`))
    expect(answer.text).not.toMatch(/tk_/)
  }

  it('is sent only to the address of the operator if it comes from a variable', async () => {
    refused(await save({ url: `${foreign.url}/alerts` }), 'settings.token')
    await test('push-a')
    expect(operators.sent).toEqual([{ path: '/', authorization: `Bearer ${operatorToken}` }])
    // Another path on the operator's server is a user-supplied address too, so the secret must not be sent there.
    refused(await save({ url: `${operators.url}/others` }), 'settings.token')
    expect((await save({ url: `${foreign.url}/alerts`, token: null })).status).toBe(200)
    await test('push-a')
    expect(foreign.sent).toEqual([{ path: '/', authorization: undefined }])
    expect((await save({ url: null })).status).toBe(200)
    await test('push-a')
    expect(operators.sent).toHaveLength(2)
  })

  it('must be entered again if it was saved', async () => {
    expect((await save({ url: `${own.url}/alerts`, token: ownToken })).status).toBe(200)
    refused(await save({ url: `${foreign.url}/alerts` }), 'settings.token')
    refused(await save({ url: null }), 'settings.token')
    await test('push-a')
    expect(own.sent).toEqual([{ path: '/', authorization: `Bearer ${ownToken}` }])
    expect((await save({ url: `${own.url}/below/alerts` })).status).toBe(200)
    await test('push-a')
    expect(own.sent.at(-1)).toEqual({ path: '/below/', authorization: `Bearer ${ownToken}` })
    expect([...foreign.sent, ...operators.sent]).toEqual([])
  })

  it('must be entered again if it is a webhook header', async () => {
    const target = { name: 'team', format: 'raw' }
    const headers = { Authorization: `Bearer ${ownToken}` }
    const added = await send('POST', 'webhook-targets', { ...target, url: `${secure.url}/hook`, headers })
    const { id } = AlertConfigIdResponse.parse(added.body).data
    const change = (more: object) => send('PUT', `webhook-targets/${id}`, { ...target, ...more })
    refused(await change({ url: `${foreignSecure.url}/hook` }), 'headers')
    await test('webhook-targets')
    expect(secure.sent).toEqual([{ path: '/hook', authorization: `Bearer ${ownToken}` }])
    expect((await change({ url: `${secure.url}/other` })).status).toBe(200)
    await test('webhook-targets')
    expect(secure.sent.at(-1)).toEqual({ path: '/other', authorization: `Bearer ${ownToken}` })
    expect((await change({ url: `${foreignSecure.url}/hook`, headers: null })).status).toBe(200)
    await test('webhook-targets')
    expect(foreignSecure.sent).toEqual([{ path: '/hook', authorization: undefined }])
  })
})
