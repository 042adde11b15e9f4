import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, it } from 'vitest'
import { anAsked } from '../../testing/an-asked.ts'
import { host } from '../../testing/chunked.ts'
import { startTcpStub } from '../../testing/stub-host.ts'
import { tlsExpiry } from './tls-expiry.ts'

/** Made for this test and used nowhere else; the certificate ends in October 2126. */
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

const expiryOf = async (url: string, nowMs: number) =>
  (await tlsExpiry(anAsked({ host: { ...host, url: new URL(url) }, nowMs }))).measured

it('the certificate that a host shows ends in so many seconds, whoever issued it', async () => {
  const server = createServer({ key, cert }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server's address is always this shape.
  const { port } = server.address() as AddressInfo
  try {
    expect((await expiryOf(`https://127.0.0.1:${port}`, endsMs - 5_000)).value).toBe(5)
    expect((await expiryOf(`https://localhost:${port}`, endsMs + 60_000)).value).toBe(-60)
  } finally {
    server.close()
  }
})

it('a host without TLS has nothing that ends', async () => {
  expect(await expiryOf('http://a:8123', 0)).toMatchObject({ value: null, reason: 'host db is not reached over TLS' })
})

it('a port where nobody speaks TLS shows no certificate', async () => {
  await using silent = await startTcpStub((socket) => socket.end('no'))
  const told = await expiryOf(silent.url.replace('http:', 'https:'), 0)
  expect(told).toMatchObject({ value: null, reason: 'host db shows no certificate' })
})
