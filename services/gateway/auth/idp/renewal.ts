import type { Logger } from 'pino'
import type { Clock } from '#shared/clock.ts'
import type { ProviderApi } from './provider-api.ts'
import type { SessionTokens } from './session-token.ts'

/** Session tokens last about a minute; for how long after that a browser that was away may ask for another. The provider may end the session sooner. */
export const renewableMs = 7 * 24 * 60 * 60_000
/** Requests of one page arrive together with the same token: they share one successor. */
const sharedMs = 20_000
/** Sessions whose successor is remembered. */
const maxRemembered = 10_000

/** Gives the token that follows one that has ended; undefined when the session is over, or cannot be asked about. */
export type Renew = (token: string) => Promise<string | undefined>

interface RenewalOptions {
  tokens: SessionTokens
  api: ProviderApi
  clock: Clock
  log: Logger
}

export const openRenewal = ({ tokens, api, clock, log }: RenewalOptions): Renew => {
  const remembered = new Map<string, { atMs: number; token: Promise<string | undefined> }>()

  const create = async (sid: string): Promise<string | undefined> => {
    try {
      return await api.createToken(sid)
    } catch (error) {
      log.warn({ err: error }, 'a session cannot be renewed')
      return undefined
    }
  }

  return async (ended) => {
    if (!api.enabled()) return undefined
    const session = await tokens.verifyPast(ended, renewableMs)
    if (session === undefined) return undefined
    const known = remembered.get(session.sid)
    if (known !== undefined && clock.elapsedMs() - known.atMs < sharedMs) return known.token
    const token = create(session.sid)
    remembered.delete(session.sid)
    remembered.set(session.sid, { atMs: clock.elapsedMs(), token })
    const [oldest] = remembered.keys()
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
    return token
  }
}
