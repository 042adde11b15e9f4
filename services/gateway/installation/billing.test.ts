import { describe, expect, it } from 'vitest'
import { BillingResponse } from '#proto/http/billing.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const variables = {
  SVC_BILLING_SERVER: 'https://pay.example.com/me',
  BILLING_ACCESS_TOKEN: 'the-billing-token',
  BILLING_WEBHOOK_SECRET: 'the-billing-secret',
}

describe('billing', () => {
  it.each([
    [{ ...variables }, false, 'Billing is available in the cloud edition only.'],
    [{ SVC_EDITION: 'cloud' }, false, 'Billing is not configured: SVC_BILLING_SERVER is not set.'],
    [
      { SVC_EDITION: 'cloud', SVC_BILLING_SERVER: 'javascript:alert(1)' },
      false,
      'Billing is not configured: SVC_BILLING_SERVER is not an http or https URL.',
    ],
    [{ ...variables, SVC_EDITION: 'cloud' }, true, expect.stringContaining('The billing server')],
  ])('with %j is active: %s', async (env, active, message) => {
    await using product = await startFakeProduct({ env })
    const answered = await (await fetch(`${product.url}/api/v1/billing`)).json()
    const server = active ? variables.SVC_BILLING_SERVER : null
    expect(BillingResponse.parse(answered).data).toEqual({ active, message, server })
  })

  it.each([
    [{}, ['SVC_BILLING_SERVER', 'BILLING_ACCESS_TOKEN', 'BILLING_WEBHOOK_SECRET']],
    [{ SVC_EDITION: 'cloud' }, ['BILLING_ACCESS_TOKEN', 'BILLING_WEBHOOK_SECRET']],
  ])('logs at start with %j the ignored variables, without secrets', async (env, names) => {
    await using product = await startFakeProduct({ env: { ...variables, ...env } })
    const lines = product.logged.filter((line) => line.includes('setting has no effect'))
    expect(lines.map((line) => JSON.parse(line).variable)).toEqual(names)
    expect(lines.join('')).not.toContain('the-billing')
  })

  it('returns 404 while its feature is disabled', async () => {
    await using product = await startFakeProduct({ env: { SVC_FEATURE_BILLING_ENABLED: 'false' } })
    expect((await fetch(`${product.url}/api/v1/billing`)).status).toBe(404)
  })
})
