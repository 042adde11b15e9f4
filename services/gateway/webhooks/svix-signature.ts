import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey, Setting } from '#shared/config/setting.ts'
import { signingKey } from '#shared/config/setting.ts'
import { isSigned, keysOf, requireFresh, single } from './signature.ts'

const shape = /^(whsec_)?[A-Za-z0-9+/]{32,128}={0,2}$/

/** A secret as Svix and standardwebhooks.com write it. */
export const svixSecret = (doc: string): Setting<RotatingKey | undefined> => {
  const setting = signingKey(doc)
  return {
    ...setting,
    allowed: `whsec_ and at least 24 bytes in base64; ${setting.allowed.replace('text; ', '')}`,
    parse: (current, previous) => {
      if ([current, previous].some((secret) => secret !== undefined && !shape.test(secret)))
        throw new Error('must be whsec_ and at least 24 bytes in base64, as the identity provider shows it')
      return setting.parse(current, previous)
    },
  }
}

interface Given {
  headers: IncomingHttpHeaders
  body: Buffer
  nowMs: number
}

/** Throws `unauthenticated` for what was not signed with the secret within the last minutes. */
export const requireSvixSignature = ({ headers, body, nowMs }: Given, secret: RotatingKey, name: string): void => {
  const header = (part: string) => single(headers[`svix-${part}`]) ?? single(headers[`webhook-${part}`])
  const at = requireFresh('svix-timestamp', header('timestamp'), nowMs)
  const id = header('id') ?? ''
  const signatures = (header('signature') ?? '').split(' ').flatMap((each) => {
    const [version, signature] = each.split(',')
    return version === 'v1' && signature ? [signature] : []
  })
  const keys = keysOf(secret).map((text) => Buffer.from(text.replace(/^whsec_/, ''), 'base64'))
  const content = [`${id}.${at}.`, body]
  if (id !== '' && isSigned(signatures, { content, keys, encoding: 'base64' })) return
  throw new ServiceError(
    'unauthenticated',
    `svix-signature must sign svix-id, svix-timestamp and the body with ${name}`,
  )
}
