import { describe, expect, it } from 'vitest'
import { BillingAnswer } from '#proto/http/billing.ts'
import { startFake } from '../testing/start.ts'

const variables = {
  SVC_BILLING_SERVER: 'https://pay.example.com/me',
  BILLING_ACCESS_TOKEN: 'the-billing-token',
  BILLING_WEBHOOK_SECRET: 'the-billing-secret',
}

describe('billing', () => {
  it.each([
    [{ ...variables }, false, 'Nobody is billed here: billing belongs to the cloud edition.'],
    [{ SVC_EDITION: 'cloud' }, false, 'Nobody is billed here: the operator has not set SVC_BILLING_SERVER.'],
    [
      { SVC_EDITION: 'cloud', SVC_BILLING_SERVER: 'javascript:alert(1)' },
      false,
      'Nobody is billed here: SVC_BILLING_SERVER is no http or https URL.',
    ],
    [{ ...variables, SVC_EDITION: 'cloud' }, true, expect.stringContaining('The billing server')],
  ])('with %j is there: %s', async (env, active, message) => {
    await using product = await startFake({ env })
    const answered = await (await fetch(`${product.url}/api/v1/billing`)).json()
    const server = active ? variables.SVC_BILLING_SERVER : null
    expect(BillingAnswer.parse(answered).data).toEqual({ active, message, server })
  })

  it.each([
    [{}, ['SVC_BILLING_SERVER', 'BILLING_ACCESS_TOKEN', 'BILLING_WEBHOOK_SECRET']],
    [{ SVC_EDITION: 'cloud' }, ['BILLING_ACCESS_TOKEN', 'BILLING_WEBHOOK_SECRET']],
  ])('says at the start with %j which of its variables change nothing, and no secret', async (env, names) => {
    await using product = await startFake({ env: { ...variables, ...env } })
    const lines = product.logged.filter((line) => line.includes('variable without effect'))
    expect(lines.map((line) => JSON.parse(line).variable)).toEqual(names)
    expect(lines.join('')).not.toContain('the-billing')
  })

  it('is not there where its feature is off', async () => {
    await using product = await startFake({ env: { SVC_FEATURE_BILLING_ENABLED: 'false' } })
    expect((await fetch(`${product.url}/api/v1/billing`)).status).toBe(404)
  })
})
