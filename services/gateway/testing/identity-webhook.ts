import { createHmac } from 'node:crypto'
import type { GoodRequest } from './auth-requests.ts'

/** As the identity provider shows it. */
export const identitySecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

interface Sent {
  secret?: string
  atMs?: number
  /** Headers go by this prefix. */
  prefix?: 'svix' | 'webhook'
}

/** An event, signed as Svix signs. */
export const signedIdentityEvent = (
  payload: object | string,
  { secret = identitySecret, atMs = Date.now(), prefix = 'svix' }: Sent = {},
): GoodRequest => {
  const raw = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const [id, at] = ['msg_2f', String(Math.floor(atMs / 1_000))]
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${raw}`).digest('base64')
  return {
    url: '/api/webhooks/identity-provider',
    raw,
    headers: {
      'content-type': 'application/json',
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: at,
      [`${prefix}-signature`]: `v1,${Buffer.alloc(32).toString('base64')} v1,${signature}`,
    },
  }
}

/** A good request of the route that hears of people who are gone. */
export const identityRequests: Readonly<Record<string, GoodRequest>> = {
  'POST /api/webhooks/identity-provider': signedIdentityEvent({
    type: 'user.deleted',
    object: 'event',
    data: { deleted: true, id: 'user_gone', object: 'user' },
  }),
}
