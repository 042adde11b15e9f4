import type { JWTPayload } from 'jose'
import type { Clock } from '#shared/clock.ts'
import { openSigningKeys, type SigningKeys } from './signing-keys.ts'
import { startStrictServer, type StrictServer } from './strict-server.ts'

/** An access gateway with real keys. */
export interface AccessGateway extends StrictServer {
  keys: SigningKeys
  /** A token for an application, as it is made now; claims given here replace its own. */
  token(audience: string, claims?: JWTPayload): Promise<string>
}

export const startAccessGateway = async (clock: Clock): Promise<AccessGateway> => {
  const keys = await openSigningKeys()
  const server = await startStrictServer(({ method }, { pathname }) =>
    `${method} ${pathname}` === 'GET /cdn-cgi/access/certs' ? { json: keys.published() } : undefined,
  )
  const token = async (audience: string, claims?: JWTPayload): Promise<string> => {
    const iat = Math.floor(clock.now() / 1000)
    const own = { iss: server.url, aud: [audience], sub: 'uuid-1', email: 'ada@example.com', type: 'app' }
    return keys.sign({ ...own, iat, nbf: iat, exp: iat + 3_600, ...claims })
  }
  return { ...server, keys, token }
}
