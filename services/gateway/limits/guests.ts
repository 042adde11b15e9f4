import type { IncomingHttpHeaders } from 'node:http'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import type { Store } from '#shared/store/store.ts'
import { cookieLine, cookieOf, isSecure } from '../auth/cookies.ts'
import { isSameText } from '../request/compare-secret.ts'

const cookieName = 'watchhouse_guest'
/** The store's name of the key that signs guests; made once by whoever needs it first, the same for all processes. */
const keyName = 'gateway:guest-key'
const keyBytes = 32
/** Longer than the longest budget of guests, which is a day. */
const maxAgeMs = 30 * 86_400_000

/** Visitors of cloud mode without credentials, told apart by a signed cookie. */
export interface Guests {
  /** The guest of a request; undefined without a cookie of ours. */
  find(headers: IncomingHttpHeaders): Promise<Identity | undefined>
  /** A `Set-Cookie` line that makes its reader a new guest. */
  invite(headers: IncomingHttpHeaders, publicUrl: string): Promise<string>
}

export const openGuests = (store: Store): Guests => {
  let known: Promise<string> | undefined
  const key = async (): Promise<string> => {
    known ??= keyIn(store)
    try {
      return await known
    } catch (error) {
      known = undefined
      throw error
    }
  }
  return {
    find: async (headers) => {
      const cookie = cookieOf(headers, cookieName)
      const id = cookie === undefined ? undefined : guestIn(cookie, await key())
      return id === undefined ? undefined : { kind: 'guest', subject: id, features: 'all' }
    },
    invite: async (headers, publicUrl) => {
      const id = randomUUID()
      const value = `${id}.${signatureOf(id, await key())}`
      return cookieLine(cookieName, value, { maxAgeMs, secure: isSecure(headers, publicUrl) })
    },
  }
}

const Key = z.string().min(1)

const keyIn = async (store: Store): Promise<string> => {
  const made = randomBytes(keyBytes).toString('base64url')
  const kept = await store.update(keyName, Key, (current) => ({ value: current ?? made }))
  return kept ?? made
}

const guestIn = (cookie: string, secret: string): string | undefined => {
  const { id, signature } = /^(?<id>[\da-f-]{36})\.(?<signature>[\w-]{43})$/.exec(cookie)?.groups ?? {}
  if (id === undefined || signature === undefined) return undefined
  return isSameText(signature, signatureOf(id, secret)) ? id : undefined
}

const signatureOf = (id: string, secret: string): string => createHmac('sha256', secret).update(id).digest('base64url')
