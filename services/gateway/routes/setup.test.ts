import { afterEach, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { SetupResponse } from '#proto/http/setup.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
afterEach(() => product[Symbol.asyncDispose]())

const read = async () => {
  const body = SetupResponse.parse(await (await fetch(`${product.url}/api/v1/setup`)).json())
  return { states: Object.fromEntries(body.data.map(({ id, state }) => [id, state])), open: body.metadata.open }
}

it('returns the state of each step without a statement on a host', async () => {
  const last = { result: 'ok', reason: null, atMs: 1 } as const
  const alertTargets = async () => [
    { channel: 'webhook', id: 'default', name: 'webhook', minSeverity: null, failures: 0, broken: null, last },
  ]
  product = await startFakeProduct({ alerts: { alertTargets }, agent: {} })
  expect(await read()).toEqual({
    states: { host: 'done', grants: 'done', history: 'done', channel: 'done', alerting: 'done', agent: 'done' },
    open: 0,
  })
  expect(
    product.received
      .map(({ method }) => method)
      .filter((name) => !['hosts', 'hostStates', 'historyState'].includes(name)),
  ).toEqual([])
})

it('omits steps of disabled features, and marks those of a service that does not respond', async () => {
  const alertTargets = async () => {
    throw new ServiceError('unavailable', 'the state store does not answer')
  }
  product = await startFakeProduct({ alerts: { alertTargets }, env: { SVC_FEATURE_AGENT_ENABLED: 'false' } })
  const { states } = await read()
  expect(states).toMatchObject({ channel: 'unknown', alerting: 'done' })
  expect(states).not.toHaveProperty('agent')
})
