import { compactDecrypt, errors, exportJWK, generateKeyPair, importJWK } from 'jose'
import { z } from 'zod'
import { ConnectionKey, ConnectionTarget } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'

const algorithm = 'ECDH-ES'

/** A key pair as the store keeps it. */
export const TransitKey = ConnectionKey.extend({ d: z.string() })
export type TransitKey = z.infer<typeof TransitKey>

export const newTransitKey = async (): Promise<TransitKey> => {
  const { privateKey } = await generateKeyPair(algorithm, { crv: 'X25519', extractable: true })
  return TransitKey.parse(await exportJWK(privateKey))
}

/** What may be told of a key. */
export const publicPart = ({ d: _private, ...key }: TransitKey): ConnectionKey => key

/** The target that a caller encrypted for us; throws `invalid` for what does not open with this key. */
export const decryptTarget = async (encrypted: string, key: TransitKey): Promise<ConnectionTarget> => {
  try {
    const { plaintext } = await compactDecrypt(encrypted, await importJWK(key, algorithm), {
      keyManagementAlgorithms: [algorithm],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    return ConnectionTarget.parse(JSON.parse(Buffer.from(plaintext).toString('utf8')))
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof z.ZodError) {
      throw new ServiceError('invalid', 'the connection is not encrypted with the present key; try again')
    }
    throw error
  }
}
