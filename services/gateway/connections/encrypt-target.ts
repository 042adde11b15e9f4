import { CompactEncrypt, importJWK } from 'jose'
import type { Call } from '#proto/call.ts'
import type { ConnectionTarget } from '#proto/connections.ts'
import type { Gateway } from '../gateway.ts'

/** A connection as it may travel: whoever reads the bus learns neither address nor password, since only `query` opens it. */
export const encryptTarget = async (
  { query }: Pick<Gateway, 'query'>,
  { url, user, password }: ConnectionTarget,
  call: Call,
): Promise<string> => {
  const key = await query.connectionKey({}, call)
  const text = Buffer.from(JSON.stringify({ url, user, password }))
  return new CompactEncrypt(text)
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
    .encrypt(await importJWK(key, 'ECDH-ES'))
}
