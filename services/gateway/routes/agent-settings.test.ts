import { afterEach, describe, expect, it } from 'vitest'
import { ModelSettingsResponse, ModelTestResponse } from '#proto/http/models.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
afterEach(() => product[Symbol.asyncDispose]())

const path = '/api/v1/agents/settings'
const send = async (method: string, body?: object, at = path) => {
  const init = { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) }
  const response = await fetch(`${product.url}${at}`, init)
  return { status: response.status, text: await response.text() }
}
const lastAudit = async () => (await fetch(`${product.url}/api/v1/audit?limit=1`)).text()

describe('the settings of the model gateway', () => {
  it('are saved with an encrypted key, and audited by name', async () => {
    product = await startFakeProduct({ agent: {} })
    const { status, text } = await send('PUT', { apiKey: 'sk-a-secret', model: 'gateway_a:one' })
    expect(status).toBe(200)
    expect(ModelSettingsResponse.parse(JSON.parse(text)).data.fields[0]).toMatchObject({
      field: 'apiKey',
      value: '••••',
    })
    const record = await lastAudit()
    expect(JSON.parse(record).data).toMatchObject([
      { action: 'update-model-settings', target: { settings: 'model, apiKey' }, result: 'done' },
    ])
    expect([record, text, product.logged.join()].join()).not.toContain('sk-a-secret')
    expect((await send('DELETE')).status).toBe(200)
    expect(await lastAudit()).toContain('delete-model-settings')
  })

  it('are tested without saving them', async () => {
    product = await startFakeProduct({ agent: {} })
    const { text } = await send('POST', { apiKey: 'sk-a-secret' }, `${path}/test`)
    expect(ModelTestResponse.parse(JSON.parse(text)).data).toMatchObject({ isOk: true, model: 'gateway_a:local' })
    expect((await send('POST', {}, `${path}/test`)).text).toContain('HTTP 401')
    expect((await send('PUT', { apiKey: '' })).status).toBe(400)
    expect((await send('PUT', { temperature: 1 })).text).toContain('temperature')
  })

  it('require write access', async () => {
    product = await startFakeProduct({ agent: {}, env: { SVC_API_KEY_SECRET: 'the secret of the keys' } })
    for (const method of ['PUT', 'DELETE']) expect((await send(method, {})).status).toBe(401)
  })
})
