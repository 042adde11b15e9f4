import {
  allowInsecureRequests,
  type AuthorizationServer,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  None,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  ResponseBodyError,
} from 'oauth4webapi'
import { expect, it } from 'vitest'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const secret = 'the operator secret of a client'
const client = { client_id: 'another-client' }
/** Allows http, because the product under test has no TLS. */
const plainHttp = { [allowInsecureRequests]: true }

/** Returns the server metadata for the OAuth library, with the endpoints that /auth.md documents. */
const serverOf = ({ url }: FakeProduct): AuthorizationServer => ({
  issuer: url,
  device_authorization_endpoint: `${url}/auth/device/code`,
  token_endpoint: `${url}/auth/token`,
})

const approve = ({ url }: FakeProduct, userCode: string) =>
  fetch(`${url}/api/v1/auth/device/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ user_code: userCode }),
  })

it('signs in a device with an OAuth library, which understands every error', async () => {
  const env = { SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true' }
  await using product = await startFakeProduct({ env })
  const server = serverOf(product)
  const parameters = { scope: 'read agent' }
  const codes = await processDeviceAuthorizationResponse(
    server,
    client,
    await deviceAuthorizationRequest(server, client, None(), parameters, plainHttp),
  )
  expect(codes).toMatchObject({ expires_in: 900, interval: 10 })

  const send = async () =>
    processDeviceCodeResponse(
      server,
      client,
      await deviceCodeGrantRequest(server, client, None(), codes.device_code, plainHttp),
    )
  const refusal = async () =>
    send().then(
      () => 'granted',
      (error: unknown) => (error instanceof ResponseBodyError ? error.error : String(error)),
    )
  expect([await refusal(), await refusal()]).toEqual(['authorization_pending', 'slow_down'])
  expect((await approve(product, codes.user_code)).status).toBe(200)
  expect(await send()).toMatchObject({ token_type: 'bearer', scope: 'read agent', expires_in: 2_592_000 })
  for (let poll = 0; poll < 6; poll += 1) expect(await refusal()).toBe('invalid_grant')
  expect(await refusal()).toBe('slow_down')
})
