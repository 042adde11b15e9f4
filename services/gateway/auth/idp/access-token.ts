import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/clock.ts'
import type { Denied } from '../denied.ts'
import { person } from '../person.ts'
import type { AccessToken, ProviderApi } from './provider-api.ts'

/** OAuth tokens of the identity provider, which it is asked about: they are opaque here. */
export interface AccessTokens {
  /**
   * Whom a token stands for that was issued for one of these resources, or for none in particular; undefined when it does not
   * hold. Throws `unavailable` when the provider cannot be asked: to say that the token is wrong would send its owner to sign in again.
   */
  verify(token: string, resources: readonly string[]): Promise<Identity | undefined>
}

/** For how long a token that was revoked may still be believed. */
const believedMs = 60_000
const disbelievedMs = 5_000
/** Tokens whose standing is remembered. */
const maxRemembered = 10_000
const longestToken = 4_096

interface Remembered {
  untilMs: number
  answer: Promise<AccessToken | undefined>
}

interface AccessTokensOptions {
  api: ProviderApi
  clock: Clock
  log: Logger
  denied: Pick<Denied, 'has'>
}

export const openAccessTokens = ({ api, clock, log, denied }: AccessTokensOptions): AccessTokens => {
  /** By the hash of the token, so that no token is kept. */
  const remembered = new Map<string, Remembered>()

  const introspect = async (token: string, hash: string): Promise<AccessToken | undefined> => {
    try {
      const known = await api.introspect(token)
      const untilMs = clock.now() + (known === undefined ? disbelievedMs : believedMs)
      remember(hash, { untilMs: Math.min(untilMs, known?.endsAtMs ?? untilMs), answer: Promise.resolve(known) })
      return known
    } catch (error) {
      remembered.delete(hash)
      log.warn({ err: error }, 'a token cannot be verified')
      throw new ServiceError('unavailable', 'the identity provider cannot be asked about this token now')
    }
  }

  const remember = (hash: string, entry: Remembered): void => {
    remembered.delete(hash)
    remembered.set(hash, entry)
    const [oldest] = remembered.keys()
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
  }

  const standingOf = (token: string): Promise<AccessToken | undefined> => {
    const hash = createHash('sha256').update(token).digest('base64url')
    const known = remembered.get(hash)
    if (known !== undefined && clock.now() < known.untilMs) return known.answer
    const answer = introspect(token, hash)
    // Whoever comes with the same token meanwhile waits for the same answer.
    remember(hash, { untilMs: Number.POSITIVE_INFINITY, answer })
    return answer
  }

  return {
    verify: async (token, resources) => {
      if (!api.enabled()) {
        throw new ServiceError('unavailable', 'the operator has not set IDP_SECRET_KEY, so no token can be verified')
      }
      const known = token.length > longestToken ? undefined : await standingOf(token)
      if (known === undefined || (known.endsAtMs !== undefined && known.endsAtMs <= clock.now())) return undefined
      const isForHere = known.audience.length === 0 || known.audience.some((each) => resources.includes(each))
      if (!isForHere || (await denied.has(known))) return undefined
      return person({ subject: known.subject })
    },
  }
}
