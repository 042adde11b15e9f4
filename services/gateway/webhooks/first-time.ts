import { hash } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Store } from '#shared/store/store.ts'
import { freshForMs } from './signature.ts'

/** Lets each signed request through once, over all gateways. */
export type RequireFirstTime = (sender: string, signature: string) => Promise<void>

/** Beyond twice the time that a signature may be off, the signature itself is too old. */
const rememberedMs = 2 * freshForMs

/** Throws `conflict` for what was let through before. */
export const openFirstTime =
  (store: Store): RequireFirstTime =>
  async (sender, signature) => {
    const name = hash('sha256', signature, 'base64url')
    let isFirst = true
    await store.update(`gateway:signed:${sender}:${name}`, z.boolean(), (before) => {
      isFirst = before === undefined
      return { value: true, expiresInMs: rememberedMs }
    })
    if (!isFirst) throw new ServiceError('conflict', 'this signed request has been taken already')
  }
