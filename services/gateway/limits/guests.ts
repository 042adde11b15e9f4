import type { IncomingHttpHeaders } from 'node:http'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import type { Store } from '#shared/store/store.ts'
import { cookieLine, cookieOf, isSecure } from '../auth/cookies.ts'
import { isSameText } from '../auth/same-text.ts'

const cookieName = 'watchhouse_guest'
/** The store's name of the key that signs guests; made once by whoever needs it first, the same for all processes. */
const keyName = 'gateway:guest-key'
const keyBytes = 32
/** Longer than the longest budget of guests, which is a day. */
const maxAgeMs = 30 * 86_400_000

/** A visitor of cloud mode whom nobody knows, told apart from others by a signed cookie alone. */
export interface Guest {
  identity: Identity
  /** The `Set-Cookie` line for a visitor who brought no good cookie. */
  cookie?: string
}

export interface Guests {
  /** Who a visitor is by the cookie it sent: the guest it was before, or a new one. */
  of(headers: IncomingHttpHeaders, publicUrl: string): Promise<Guest>
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
    of: async (headers, publicUrl) => {
      const secret = await key()
      const id = guestIn(cookieOf(headers, cookieName), secret)
      if (id !== undefined) return { identity: guest(id) }
      const made = randomUUID()
      const value = `${made}.${signatureOf(made, secret)}`
      const cookie = cookieLine(cookieName, value, { maxAgeMs, secure: isSecure(headers, publicUrl) })
      return { identity: guest(made), cookie }
    },
  }
}

const Key = z.string().min(1)

const keyIn = async (store: Store): Promise<string> => {
  const made = randomBytes(keyBytes).toString('base64url')
  const kept = await store.update(keyName, Key, (current) => ({ value: current ?? made }))
  return kept ?? made
}

const guest = (id: string): Identity => ({ kind: 'guest', subject: id, features: 'all' })

const guestIn = (cookie: string | undefined, secret: string): string | undefined => {
  const { id, signature } = /^(?<id>[\da-f-]{36})\.(?<signature>[\w-]{43})$/.exec(cookie ?? '')?.groups ?? {}
  if (id === undefined || signature === undefined) return undefined
  return isSameText(signature, signatureOf(id, secret)) ? id : undefined
}

const signatureOf = (id: string, secret: string): string => createHmac('sha256', secret).update(id).digest('base64url')
