import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type Clock, computeAgeMs, recordInstant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'
import { ApiKeyClaims, ApiKeyId } from './key-token.ts'

/** The stored record of a key until it expires. The token itself is never stored. */
export const ApiKeyRecord = z.object({
  claims: ApiKeyClaims,
  lastUsedAtMs: z.number().nullable(),
  revokedAtMs: z.number().nullable(),
})
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>

/** The known API keys: issued or used, and not expired. */
export interface KeyRegistry {
  find(id: string): Promise<ApiKeyRecord | undefined>
  /** Adds a key; throws `conflict` when there are too many. */
  add(claims: ApiKeyClaims): Promise<void>
  /** Records the last use, at most once a minute. A key that the store has lost is added again. */
  noteUse(claims: ApiKeyClaims, known: ApiKeyRecord | undefined): Promise<void>
  revoke(claims: ApiKeyClaims): Promise<ApiKeyRecord>
  all(): Promise<ApiKeyRecord[]>
}

/** Maximum number of keys. Their index stays far below the maximum size of a stored value. */
const maxKeys = 5_000
/** Minimum time between two writes of the last use of a key. */
const noteUseEveryMs = 60_000

const indexName = 'api-keys'
const Index = z.array(z.object({ id: ApiKeyId, exp: z.number() }))
const nameOf = (id: string): string => `api-key:${id}`

export const openKeyRegistry = (store: Store, clock: Clock): KeyRegistry => {
  /** Keys whose use is being written, so that a burst of requests writes once. */
  const noting = new Set<string>()

  const write = async (claims: ApiKeyClaims, change: Partial<ApiKeyRecord>): Promise<ApiKeyRecord> => {
    const fresh = { claims, lastUsedAtMs: null, revokedAtMs: null }
    let written: ApiKeyRecord = fresh
    await store.update(nameOf(claims.jti), ApiKeyRecord, (current) => {
      written = { ...(current ?? fresh), ...change }
      return { value: written, expiresInMs: Math.max(1, claims.exp * 1000 - clock.now()) }
    })
    return written
  }

  const list = ({ jti, exp }: ApiKeyClaims) =>
    store.update(indexName, Index, (current = []) => {
      const inForce = current.filter((key) => key.exp * 1000 > clock.now() && key.id !== jti)
      if (inForce.length >= maxKeys)
        throw new ServiceError(
          'conflict',
          `too many API keys: the maximum is ${maxKeys}; delete some or wait until they expire`,
        )
      return { value: [...inForce, { id: jti, exp }] }
    })

  const find = (id: string) => store.get(nameOf(id), ApiKeyRecord)

  return {
    find,
    add: async (claims) => {
      await list(claims)
      await write(claims, {})
    },
    noteUse: async (claims, known) => {
      const nowMs = recordInstant(clock)
      if (noting.has(claims.jti) || computeAgeMs(clock, known?.lastUsedAtMs ?? 0) < noteUseEveryMs) return
      noting.add(claims.jti)
      try {
        if (known === undefined) await list(claims)
        await write(claims, { lastUsedAtMs: nowMs })
      } catch (error) {
        // A key remains valid if its last use cannot be recorded.
        if (!(error instanceof ServiceError)) throw error
      } finally {
        noting.delete(claims.jti)
      }
    },
    revoke: (claims) => write(claims, { revokedAtMs: clock.now() }),
    all: async () => {
      const index = (await store.get(indexName, Index)) ?? []
      const records = await Promise.all(index.map(({ id }) => find(id)))
      return records.filter((record) => record !== undefined)
    },
  }
}
