import type { Request } from 'express'
import type { Environment } from '#shared/config/environment.ts'
import { bearerOf } from '../bearer.ts'
import { publicUrl } from '../public-url.ts'

/** What a refused client learns about signing in (RFC 6750 §3, RFC 9728 §5.1); without credentials there is no error to name. */
export const toolServerChallenge = (request: Pick<Request, 'headers' | 'protocol'>, env: Environment): string => {
  const metadata = `${publicUrl(request, env)}/.well-known/oauth-protected-resource/api/mcp`
  const error = bearerOf(request.headers) === undefined ? '' : ', error="invalid_token"'
  return `Bearer realm="watchhouse", resource_metadata="${metadata}"${error}`
}
