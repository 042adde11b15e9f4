import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { isSigned, keysOf, requireFresh, single } from './signature.ts'

interface Given {
  headers: IncomingHttpHeaders
  body: Buffer
  nowMs: number
}

/** Throws `unauthenticated` for what the chat service did not sign within the last minutes; gives the signature. */
export const requireChatSignature = ({ headers, body, nowMs }: Given, secret: RotatingKey): string => {
  const at = requireFresh('X-Slack-Request-Timestamp', single(headers['x-slack-request-timestamp']), nowMs)
  const [version, signature = ''] = (single(headers['x-slack-signature']) ?? '').split('=')
  const content = [`v0:${at}:`, body]
  if (version === 'v0' && isSigned([signature], { content, keys: keysOf(secret), encoding: 'hex' })) return signature
  throw new ServiceError('unauthenticated', 'X-Slack-Signature must sign the request with CHATAPP_SIGNING_SECRET')
}
