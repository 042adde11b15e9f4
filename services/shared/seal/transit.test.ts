import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { encryptForTransit, openTransitKeyPair } from './transit.ts'

const Secret = z.object({ url: z.string() })

describe('a secret on its way over the bus', () => {
  let store: Store
  beforeEach(async () => {
    store = await openStore({ env: {}, busIsShared: false })
  })
  afterEach(() => store[Symbol.asyncDispose]())

  it('is decrypted by every process of its service, and reveals nothing', async () => {
    const [one, other] = [openTransitKeyPair(store, 'a:key'), openTransitKeyPair(store, 'a:key')]
    const encrypted = await encryptForTransit(await one.publicKey(), { url: 'https://hooks.example/a-secret' })
    expect(await other.decrypt(encrypted, Secret)).toEqual({ url: 'https://hooks.example/a-secret' })
    const parts = encrypted.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    expect(parts.join('')).not.toContain('secret')
  })

  it('is encrypted without the private key', async () => {
    expect(Object.keys(await openTransitKeyPair(store, 'a:key').publicKey()).toSorted()).toEqual(['crv', 'kty', 'x'])
  })

  it.each([
    [
      'for another service',
      async () => encryptForTransit(await openTransitKeyPair(store, 'b:key').publicKey(), { url: 'x' }),
    ],
    [
      'of another shape',
      async () => encryptForTransit(await openTransitKeyPair(store, 'a:key').publicKey(), { uri: 'x' }),
    ],
    ['no JWE', async () => 'secret'],
    ['empty', async () => ''],
  ])('is rejected if it is %s', async (_what, encrypted) => {
    const refused = openTransitKeyPair(store, 'a:key').decrypt(await encrypted(), Secret)
    await expect(refused).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('try again') })
  })
})
