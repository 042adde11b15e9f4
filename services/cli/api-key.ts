import { z } from 'zod'

const Claims = z.object({ jti: z.string(), exp: z.number() })

/** Returns id and expiry of an API key, which its first part contains in readable form; undefined for other secrets. */
export const readKeyClaims = (apiKey: string): { id: string; expiresAt: string } | undefined => {
  const { payload } = /^svc_(?<payload>[\w-]+)\.[\w-]+$/.exec(apiKey)?.groups ?? {}
  if (payload === undefined) return undefined
  try {
    const { jti, exp } = Claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()))
    return { id: jti, expiresAt: new Date(exp * 1000).toISOString() }
  } catch {
    return undefined
  }
}
