import type { IncomingMessage } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { proxySettings } from '../config.ts'
import { identityHeader } from '../header.ts'
import { person } from '../person.ts'
import { isSharedSecret } from '../shared-secret.ts'
import type { EdgeAccess } from './edge-access.ts'

/**
 * The person whom a proxy vouches for, by a token of the access gateway or by its shared secret: either is enough.
 * Throws `unauthenticated` for a token that does not hold.
 */
export const proxiedPerson = async (
  request: IncomingMessage,
  env: Environment,
  edgeAccess: EdgeAccess,
): Promise<Identity | undefined> => {
  const named = namedByHeader(request, env)
  if (named !== undefined) return person({ subject: named })
  const token = identityHeader(request, 'edge-access-jwt-assertion')
  if (token === undefined || !edgeAccess.enabled()) return undefined
  const identity = await edgeAccess.verify(token)
  if (identity !== undefined) return identity
  throw new ServiceError('unauthenticated', 'the token of the access gateway is not valid here')
}

/** Whoever does not know the secret may write any name into the header. */
const namedByHeader = (request: IncomingMessage, env: Environment): string | undefined => {
  const {
    SVC_PROXY_AUTH_SECRET: secret,
    SVC_PROXY_SHARED_SECRET_HEADER: secretHeader,
    SVC_PROXY_AUTH_HEADER: nameHeader,
  } = read(proxySettings, env)
  if (secret === undefined || !isSharedSecret(identityHeader(request, secretHeader), secret)) return undefined
  return identityHeader(request, nameHeader)
}
