import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { limitEntries } from '#shared/store/limit-entries.ts'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DeniedUsers } from '../denied-users.ts'
import { createUserIdentity } from '../identity.ts'
import type { AccessToken, IdpApi } from './provider-api.ts'

/** Verifies OAuth access tokens. They are opaque, so the identity provider introspects them. */
export interface AccessTokenVerifier {
  /**
   * Returns the user of a token that was issued for one of these resources, or without an audience. Undefined if the
   * token is invalid, or if `IDP_SECRET_KEY` is not set. Throws `unavailable` if the provider does not respond, because
   * a 401 would make clients with a valid token sign in again.
   */
  verify(token: string, resources: readonly string[]): Promise<Identity | undefined>
}

/** How long a valid token is cached. A revoked token can be accepted for this long. */
const validCacheMs = 60_000
/** How long an invalid token is cached. */
const invalidCacheMs = 5_000
/** Maximum number of cached tokens. */
const maxCachedTokens = 10_000
const maxTokenLength = 4_096

interface AccessTokenVerifierOptions {
  api: IdpApi
  clock: Clock
  log: Logger
  denied: Pick<DeniedUsers, 'has'>
}

export const openAccessTokenVerifier = ({
  api,
  clock,
  log,
  denied,
}: AccessTokenVerifierOptions): AccessTokenVerifier => {
  /** Introspection results by the hash of the token, so that no token is stored. */
  const remembered = new LRUCache<string, Promise<AccessToken | undefined>>({
    ...limitEntries(maxCachedTokens),
    perf: { now: clock.elapsedMs },
    ttlResolution: 0,
  })

  const introspect = async (token: string, digest: string): Promise<AccessToken | undefined> => {
    try {
      const known = await api.introspect(token)
      remembered.set(digest, Promise.resolve(known), { ttl: known === undefined ? invalidCacheMs : validCacheMs })
      return known
    } catch (error) {
      remembered.delete(digest)
      log.warn({ err: error }, 'token verification failed')
      throw new ServiceError('unavailable', 'cannot verify the token: the identity provider is unreachable; try again')
    }
  }

  const introspectCached = (token: string): Promise<AccessToken | undefined> => {
    const digest = hash('sha256', token, 'base64url')
    const known = remembered.get(digest)
    if (known !== undefined) return known
    const answer = introspect(token, digest)
    // Concurrent requests with the same token share one verification.
    remembered.set(digest, answer)
    return answer
  }

  return {
    verify: async (token, resources) => {
      if (!api.enabled()) return undefined
      const known = token.length > maxTokenLength ? undefined : await introspectCached(token)
      if (known === undefined || (known.endsAtMs !== undefined && known.endsAtMs <= clock.now())) return undefined
      const isForHere = known.audience.length === 0 || known.audience.some((each) => resources.includes(each))
      if (!isForHere || (await denied.has(known))) return undefined
      return createUserIdentity({ subject: known.subject })
    },
  }
}
