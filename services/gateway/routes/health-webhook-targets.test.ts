import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AlertConfigIdResponse } from '#proto/http/alerts.ts'
import { TargetPreviewResponse, WebhookTargetsResponse } from '#proto/http/channels.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const target = { name: 'team', url: 'https://hooks.example/a-secret', headers: { 'X-Team': 'another-secret' } }

describe('additional webhook targets', () => {
  let product: FakeProduct
  beforeAll(async () => {
    product = await startFakeProduct({ alerts: {} })
  })
  afterAll(() => product[Symbol.asyncDispose]())
  const send = async (method: string, path = '', body?: unknown) => {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${product.url}/api/v1/health/webhook-targets${path}`, init)
    return { status: response.status, body: await response.json() }
  }

  it('are listed without their secrets', async () => {
    const { data } = WebhookTargetsResponse.parse((await send('GET')).body)
    expect(data).toMatchObject([{ id: 'cwt-1', name: 'team', url: '••••abcd', headers: ['Authorization'] }])
  })

  it('are added with a new id, and audited without secrets', async () => {
    const { data } = AlertConfigIdResponse.parse((await send('POST', '', target)).body)
    expect(data.id).toMatch(/^cwt_[0-9a-f]{24}$/)
    const record = await (await fetch(`${product.url}/api/v1/audit?limit=1`)).text()
    expect(JSON.parse(record).data).toMatchObject([
      { action: 'update-webhook-target', target: { name: 'team', url: 'given', headers: 'X-Team' } },
    ])
    expect(record).not.toMatch(/a-secret|another-secret/)
  })

  it('are changed without their URL, and deleted', async () => {
    expect((await send('PUT', '/cwt-1', { name: 'team', enabled: false })).status).toBe(200)
    expect((await send('DELETE', '/cwt-1')).status).toBe(200)
  })

  it('are previewed', async () => {
    const { body } = await send('POST', '/preview', { format: 'raw', templates: { title: 'x' } })
    expect(TargetPreviewResponse.parse(body).data).toEqual({ method: 'POST', body: { title: 'x' } })
  })

  it('are previewed for a URL that is encrypted on the bus', async () => {
    const { status, body } = await send('POST', '/preview', { format: 'auto', url: target.url })
    expect(status).toBe(200)
    expect(TargetPreviewResponse.parse(body).data.body).toEqual({ title: 'Disk full', of: target.url })
  })

  it.each([
    ['POST', '', { name: 'team' }, 'url'],
    ['POST', '', { ...target, name: '' }, 'name'],
    ['POST', '', { ...target, format: 'xml' }, 'format'],
    ['POST', '', { ...target, urlEnv: 'PATH' }, 'urlEnv'],
    ['POST', '', { ...target, templates: { title: 'x'.repeat(201) } }, 'templates.title'],
    ['POST', '', { ...target, minSeverity: 'info' }, 'minSeverity'],
    ['PUT', '/a%20b', { name: 'team' }, 'id'],
    ['POST', '/preview', { severity: 'info' }, 'severity'],
  ])('%s %s %j is rejected for its %s', async (method, path, sent, parameter) => {
    const { status, body } = await send(method, path, sent)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(parameter)
    expect(JSON.stringify(body)).not.toContain('a-secret')
  })
})
