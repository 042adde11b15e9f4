import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, it } from 'vitest'
import type { Connector } from '#shared/net/connect.ts'
import { openNet } from '#shared/net/net.ts'
import { createEvaluatorInput } from '../../testing/evaluator-input.ts'
import { testHost } from '../../testing/response-bodies.ts'
import { startTcpStub } from '../../testing/stub-host.ts'
import { evaluateTlsExpiry } from './tls-expiry.ts'

/** A certificate for this test only; it expires in October 2126. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnssIWzWeJHUJxTO3
xC3zw8W28CdV2TPJTMTSwCIpDFuhRANCAAQFHFJgNuMXoi+yUXOpPxxwyDeHyugl
0OcVEnx39LSbwlPAdkPKZZqn4T6tflQl/2xXKJ3MnK88R+2+njhfDuGt
-----END PRIVATE KEY-----
`
const cert = `-----BEGIN CERTIFICATE-----
MIIBfjCCASWgAwIBAgIUY49i4XaDxGgphA5VZb795BnHWDgwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE1NDg0OFoYDzIxMjYxMDI4
MTU0ODQ4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQFHFJgNuMXoi+yUXOpPxxwyDeHyugl0OcVEnx39LSbwlPAdkPKZZqn
4T6tflQl/2xXKJ3MnK88R+2+njhfDuGto1MwUTAdBgNVHQ4EFgQUlNlrlW1905Ew
ABJgl2ftPz+YvLYwHwYDVR0jBBgwFoAUlNlrlW1905EwABJgl2ftPz+YvLYwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiBoLKtO9kWRkeSKPVU+kg5C
DwOEo5r4ajOCB17JK2eJLwIgbh/KvZJociYfyUPbqMa/z3uhaSOeK1kmO613kMj9
9a0=
-----END CERTIFICATE-----
`
const endsMs = Date.parse('2126-10-28T15:48:48Z')

const expiryOf = async (url: string, nowMs: number, connect?: Connector) => {
  const target = { ...testHost, url: new URL(url), ...(connect && { connect }) }
  return (await evaluateTlsExpiry(createEvaluatorInput({ host: target, nowMs }))).measured
}

const startServer = async () => {
  const server = createServer({ key, cert }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let accepted = 0
  server.on('connection', () => accepted++)
  // The address of a listening TCP server is never a string or null.
  const { port } = server.address() as AddressInfo
  return { port, accepted: () => accepted, [Symbol.asyncDispose]: async () => void server.close() }
}

it('returns the seconds until a certificate expires, trusted or not', async () => {
  await using server = await startServer()
  expect((await expiryOf(`https://127.0.0.1:${server.port}`, endsMs - 5_000)).value).toBe(5)
  expect((await expiryOf(`https://localhost:${server.port}`, endsMs + 60_000)).value).toBe(-60)
})

it.each(['127.0.0.1', 'user.example.com'])('connects to a user-supplied host through the guard: %s', async (name) => {
  await using server = await startServer()
  const resolve = async () => ['127.0.0.1']
  await using open = openNet({ env: { SVC_ALLOW_PRIVATE_HOSTS: 'true' }, resolve })
  await using closed = openNet({ env: {}, resolve })
  const url = `https://${name}:${server.port}`
  expect(await expiryOf(url, endsMs, closed.connect)).toMatchObject({
    value: null,
    reason: 'host db presents no certificate',
  })
  expect(server.accepted()).toBe(0)
  expect((await expiryOf(url, endsMs - 5_000, open.connect)).value).toBe(5)
})

it('returns no value for a closed port', async () => {
  expect(await expiryOf('https://127.0.0.1:1', 0)).toMatchObject({
    value: null,
    reason: 'host db presents no certificate',
  })
})

it('returns no value for a host without TLS', async () => {
  expect(await expiryOf('http://a:8123', 0)).toMatchObject({ value: null, reason: 'host db does not use TLS' })
})

it('returns no value for a port without TLS', async () => {
  await using silent = await startTcpStub((socket) => socket.end('no'))
  const expiry = await expiryOf(silent.url.replace('http:', 'https:'), 0)
  expect(expiry).toMatchObject({ value: null, reason: 'host db presents no certificate' })
})
