import type { Request } from 'express'
import { errorStatuses } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { bearerOf } from '../request/bearer.ts'
import type { Shown } from '../response/failure.ts'
import { publicUrl } from '../request/public-url.ts'

/**
 * What a refused client learns about signing in (RFC 6750 §3, RFC 9728 §5.1): without credentials there is no error to name, and
 * with too little scope the one that would do is named.
 */
export const toolServerChallenge = (
  request: Pick<Request, 'headers' | 'protocol'>,
  env: Environment,
  { status, details }: Pick<Shown, 'status' | 'details'>,
): string | undefined => {
  const scope = details?.scope
  const isShort = status === errorStatuses.forbidden && typeof scope === 'string'
  if (!isShort && status !== errorStatuses.unauthenticated) return undefined
  const metadata = `${publicUrl(request, env)}/.well-known/oauth-protected-resource/api/mcp`
  const hasToken = bearerOf(request.headers) !== undefined
  const error = isShort ? `, error="insufficient_scope", scope="${scope}"` : hasToken ? ', error="invalid_token"' : ''
  return `Bearer realm="watchhouse", resource_metadata="${metadata}"${error}`
}
