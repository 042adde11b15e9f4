import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
beforeEach(() => product.received.splice(0))
afterAll(async () => product[Symbol.asyncDispose]())

interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

/** Sends the request line unchanged; `fetch` would normalize the path. */
const send = (path: string, { method = 'GET', headers = {}, body }: Sent = {}) =>
  new Promise<{ status: number; json: unknown }>((resolve, reject) => {
    const { hostname, port } = new URL(product.url)
    const text = body === undefined ? '' : JSON.stringify(body)
    const requests = request({
      hostname,
      port,
      path,
      method,
      agent: false,
      // Node sets the content length automatically for POST only; without it the body would start another request.
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
    })
    requests.on('error', reject)
    requests.on('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode ?? 0, json: text === '' ? undefined : JSON.parse(text) })
    })
    requests.end(text)
  })

const requests = () => product.received.filter(({ method }) => method.startsWith('repldb'))

const base = '/api/v1/repldb'
/** Mutating operations of the replication service, from its documentation. */
const mutations: [method: string, path: string][] = [
  ['POST', 'peers/validate'],
  ['POST', 'peers/create'],
  ['POST', 'peers/drop'],
  ['POST', 'flows/cdc/create'],
  ['POST', 'flows/qrep/create'],
  ['POST', 'mirrors/cdc/validate'],
  ['POST', 'mirrors/state_change'],
  ['POST', 'mirrors/resync'],
  ['POST', 'alerts/config'],
  ['GET', 'alerts/config'],
  ['DELETE', 'alerts/config/1'],
  ['POST', 'dynamic_settings'],
  ['POST', 'scripts'],
  ['GET', 'scripts/1'],
  ['DELETE', 'scripts/1'],
  ['POST', 'instance/maintenance'],
  ['POST', 'flows/tags'],
]
const others: [method: string, path: string][] = [
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/mirrors'],
  ['GET', '/peers/schemas?peer_name=shop_source'],
  ['GET', '/peers/tables/all?peer_name=shop_source'],
  ['PUT', '/mirrors/list'],
  ['PATCH', '/mirrors/status'],
  ['DELETE', '/peers/info/shop_source'],
  ['POST', '/mirrors/list'],
  ['GET', '/mirrors/status'],
  ['GET', '/peers/slots/lag_history'],
  ['GET', '/version/'],
  ['GET', '//version'],
  ['GET', '/version;x=1'],
  ['GET', '/VERSION'],
  ['GET', '/v1/version'],
]
const disguised: string[] = [
  '/../repldb/alerts/config',
  '/peers/info/..',
  '/peers/info/../../alerts/config',
  '/peers/info/..%2f..%2falerts%2fconfig',
  '/peers/info/%2e%2e/%2e%2e/alerts/config',
  '/peers/info/%252e%252e%252falerts%252fconfig',
  '/peers/info/a%2fb',
  '/peers/info/a%5Cb',
  '/peers/info/a\\..\\..\\alerts',
  '/peers/info/a%00',
  '/peers/info/a%0d%0aX-Injected:1',
  '/peers/info/a%3Fx=1',
  '/peers/info/a%23',
  '/peers/info/shop%20source',
  '/peers/info/@evil.example',
  '/peers/info/a:80',
  '/%61lerts/config',
]

describe('requests to the replication service', () => {
  it.each([...mutations.map(([method, path]) => [method, `/${path}`] as const), ...others])(
    'is not %s %s',
    async (method, path) => {
      const { status, json } = await send(base + path, { method, ...(method === 'GET' ? {} : { body: {} }) })
      expect([status, ErrorResponse.parse(json).error.type]).toEqual([403, 'forbidden'])
      expect(requests()).toEqual([])
    },
  )

  it.each(disguised)('are rejected in disguise: %s', async (path) => {
    const { status } = await send(base + path)
    expect(status).toBe(403)
    expect(requests()).toEqual([])
  })

  it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])('ignore %s', async (header) => {
    const sent = { method: 'POST', headers: { [header]: 'DELETE' }, body: { flowJobName: 'orders' } }
    expect((await send(`${base}/mirrors/status`, sent)).status).toBe(403)
    expect((await send(`${base}/mirrors/list`, { headers: { [header]: 'GET' } })).status).toBe(403)
    expect(requests()).toEqual([])
  })

  it('contain only known fields', async () => {
    const sent = { method: 'POST', body: { flowJobName: 'orders', requestedFlowState: 'STATUS_TERMINATING' } }
    const { status, json } = await send(`${base}/mirrors/status`, sent)
    expect([status, ErrorResponse.parse(json).error.message]).toEqual([
      400,
      expect.stringContaining('requestedFlowState'),
    ])
    expect(requests()).toEqual([])
  })

  it.each([
    ['mirrors/status', {}, 'flowJobName is required'],
    ['mirrors/status', { flowJobName: '../x' }, 'flowJobName must be a name'],
    ['mirrors/cdc/graph', { flowJobName: 'a', aggregateType: 'hourly' }, 'aggregateType must be one of'],
    ['mirrors/cdc/batches', { flowJobName: 'a', limit: 1_001 }, 'limit must be at most 1000'],
    ['mirrors/logs', { level: 'loud' }, 'level must be one of all, info, warn, error'],
    ['mirrors/logs', { numPerPage: 501 }, 'numPerPage must be at most 500'],
    ['peers/slots/lag_history', { peerName: 'a', slotName: 'b', timeSince: "1day'" }, 'timeSince must be one of'],
  ])('are rejected with the invalid parameter: %s %o', async (path, body, sentence) => {
    const { status, json } = await send(`${base}/${path}`, { method: 'POST', body })
    expect([status, ErrorResponse.parse(json).error.message]).toEqual([400, expect.stringContaining(sentence)])
  })

  it('are rejected when a name is too long', async () => {
    const { status } = await send(`${base}/peers/info/${'a'.repeat(300)}`)
    expect(status).toBe(400)
  })
})

describe('responses of the replication service', () => {
  it('are forwarded', async () => {
    const { status, json } = await send(`${base}/mirrors/status`, { method: 'POST', body: { flowJobName: 'orders' } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ success: true, data: { flowJobName: 'orders', currentFlowState: 'STATUS_RUNNING' } })
    expect(requests()[0]?.input).toEqual({ flowJobName: 'orders', includeFlowInfo: false, excludeBatches: false })
  })

  it('have a status for each failure', async () => {
    const fail = (code: 'not-implemented' | 'unavailable' | 'timeout' | 'not-found') => async () => {
      throw new ServiceError(code, 'it is so', { details: { reason: 'auth' } })
    }
    await using failing = await startFakeProduct({
      query: {
        repldbVersion: fail('not-implemented'),
        repldbPeers: fail('unavailable'),
        repldbMirrors: fail('timeout'),
        repldbPeerType: fail('not-found'),
      },
    })
    const status = async (path: string) => (await fetch(`${failing.url}${base}/${path}`)).status
    expect([await status('version'), await status('peers/list')]).toEqual([501, 503])
    expect([await status('mirrors/list'), await status('peers/type/a')]).toEqual([504, 404])
  })

  it('are 404 while the feature is disabled', async () => {
    await using without = await startFakeProduct({ env: { SVC_FEATURE_REPLDB_ENABLED: 'false' } })
    const answers = await Promise.all([
      fetch(`${without.url}/api/v1/repldb-status`),
      fetch(`${without.url}${base}/mirrors/list`),
    ])
    const config = await (await fetch(`${without.url}/api/v1/config`)).json()
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(config).toMatchObject({ data: { offers: { replicationService: false } } })
    expect(without.received.filter(({ method }) => method.startsWith('repldb'))).toEqual([])
  })

  it('require authentication when the feature does', async () => {
    await using closed = await startFakeProduct({ env: { SVC_FEATURE_REPLDB_ACCESS: 'authenticated' } })
    expect((await fetch(`${closed.url}/api/v1/repldb-status`)).status).toBe(401)
  })
})
