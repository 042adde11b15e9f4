import { compactDecrypt, exportJWK, generateKeyPair } from 'jose'
import { TransitPublicKey } from '#proto/encrypted-secrets.ts'

const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'X25519' })

/** The key with which secrets are encrypted for every fake service. */
export const fakeTransitKey = TransitPublicKey.parse(await exportJWK(publicKey))

/** Decrypts a value that the gateway encrypted for a fake service. */
export const decryptTransitSecret = async (encrypted = ''): Promise<unknown> => {
  const { plaintext } = await compactDecrypt(encrypted, privateKey)
  return JSON.parse(Buffer.from(plaintext).toString('utf8'))
}
