import type { IncomingHttpHeaders } from 'node:http'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { cookieLine, isSecure, keyCookie } from './cookies.ts'
import { keySettings } from './keys/config.ts'
import { readKey } from './keys/token.ts'

interface KeyCookieOptions {
  env: Environment
  nowMs: number
  headers: IncomingHttpHeaders
  publicUrl(): string
}

/** A `Set-Cookie` line that keeps a valid key until it expires. The key itself is the session: revoking it ends both. */
export const keyCookieLine = (key: string, { env, nowMs, headers, publicUrl }: KeyCookieOptions): string => {
  const { SVC_API_KEY_SECRET: secret } = read(keySettings, env)
  const claims = secret && readKey(key, secret)
  const maxAgeMs = claims === undefined ? 0 : claims.exp * 1000 - nowMs
  return cookieLine(keyCookie, key, { maxAgeMs, secure: isSecure(headers, publicUrl()) })
}
