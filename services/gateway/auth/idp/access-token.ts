import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DeniedUsers } from '../denied.ts'
import { person } from '../identity.ts'
import type { AccessToken, ProviderApi } from './provider-api.ts'

/** Verifies OAuth tokens with the identity provider, because they are opaque. */
export interface AccessTokens {
  /**
   * The person of a token that was issued for one of these resources, or for none in particular. Undefined when the token is not valid, and
   * for every token without `IDP_SECRET_KEY`, since nothing can verify it. Throws `unavailable` while the provider does not answer: a refusal
   * would send the owner of a valid token to sign in again.
   */
  verify(token: string, resources: readonly string[]): Promise<Identity | undefined>
}

/** For how long a token that was revoked may still be believed. */
const believedMs = 60_000
const disbelievedMs = 5_000
/** Tokens whose standing is remembered. */
const maxRemembered = 10_000
const maxTokenLength = 4_096

interface AccessTokensOptions {
  api: ProviderApi
  clock: Clock
  log: Logger
  denied: Pick<DeniedUsers, 'has'>
}

export const openAccessTokens = ({ api, clock, log, denied }: AccessTokensOptions): AccessTokens => {
  /** By the hash of the token, so that no token is kept. */
  const remembered = new LRUCache<string, Promise<AccessToken | undefined>>({
    max: maxRemembered,
    perf: { now: clock.elapsedMs },
    ttlResolution: 0,
  })

  const introspect = async (token: string, digest: string): Promise<AccessToken | undefined> => {
    try {
      const known = await api.introspect(token)
      remembered.set(digest, Promise.resolve(known), { ttl: known === undefined ? disbelievedMs : believedMs })
      return known
    } catch (error) {
      remembered.delete(digest)
      log.warn({ err: error }, 'token verification failed')
      throw new ServiceError('unavailable', 'cannot verify the token: the identity provider is unreachable; try again')
    }
  }

  const standingOf = (token: string): Promise<AccessToken | undefined> => {
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
      const known = token.length > maxTokenLength ? undefined : await standingOf(token)
      if (known === undefined || (known.endsAtMs !== undefined && known.endsAtMs <= clock.now())) return undefined
      const isForHere = known.audience.length === 0 || known.audience.some((each) => resources.includes(each))
      if (!isForHere || (await denied.has(known))) return undefined
      return person({ subject: known.subject })
    },
  }
}
