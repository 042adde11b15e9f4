import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { TransitPublicKey } from '#proto/encrypted-secrets.ts'
import { getOrCreateValue } from '../store/installation.ts'
import type { Store } from '../store/store.ts'

const algorithm = 'ECDH-ES'
const encryption = 'A256GCM'

/** The private key as a JWK; the public key is part of it. */
const TransitKey = TransitPublicKey.extend({ d: z.string() })
type TransitKey = z.infer<typeof TransitKey>

/** A key pair for secrets that other services encrypt for this one, so that the bus carries only ciphertext. */
export interface TransitKeyPair {
  /** Returns the public key for callers. */
  publicKey(): Promise<TransitPublicKey>
  /**
   * Decrypts and validates a value; throws `invalid` if it was encrypted with another key or does not match the schema.
   */
  decrypt<S extends z.ZodType>(encrypted: string, schema: S): Promise<z.output<S>>
}

/** Opens the key pair `name` in the store. The first process creates it for all processes of the service. */
export const openTransitKeyPair = (store: Store, name: string): TransitKeyPair => {
  const key = () => getOrCreateValue(store, name, TransitKey, generateTransitKey)
  return {
    publicKey: async () => TransitPublicKey.parse(await key()),
    decrypt: async (encrypted, schema) => decrypt(encrypted, schema, await key()),
  }
}

/** Encrypts a value for the owner of the key. */
export const encryptForTransit = async (key: TransitPublicKey, value: unknown): Promise<string> => {
  const { CompactEncrypt, importJWK } = await loadJose()
  return new CompactEncrypt(Buffer.from(JSON.stringify(value)))
    .setProtectedHeader({ alg: algorithm, enc: encryption })
    .encrypt(await importJWK(key, algorithm))
}

/** Loads the library when the first secret is encrypted or decrypted, because few installations need it. */
const loadJose = () => import('jose')

const generateTransitKey = async (): Promise<TransitKey> => {
  const { exportJWK, generateKeyPair } = await loadJose()
  const { privateKey } = await generateKeyPair(algorithm, { crv: 'X25519', extractable: true })
  return TransitKey.parse(await exportJWK(privateKey))
}

const decrypt = async <S extends z.ZodType>(encrypted: string, schema: S, key: TransitKey): Promise<z.output<S>> => {
  const { compactDecrypt, errors, importJWK } = await loadJose()
  try {
    const { plaintext } = await compactDecrypt(encrypted, await importJWK(key, algorithm), {
      keyManagementAlgorithms: [algorithm],
      contentEncryptionAlgorithms: [encryption],
    })
    return schema.parse(JSON.parse(Buffer.from(plaintext).toString('utf8')))
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof z.ZodError) {
      throw new ServiceError('invalid', 'cannot decrypt: encrypted with another key; try again')
    }
    throw error
  }
}
