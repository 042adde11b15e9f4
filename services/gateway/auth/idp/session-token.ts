import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DeniedUsers } from '../denied-users.ts'
import type { KeySets } from '../key-sets.ts'
import { createUserIdentity } from '../identity.ts'
import { verifyToken } from '../signed-token.ts'
import type { IdpAddresses } from './addresses.ts'

/** A claim for display only: an absent or invalid value does not make the token invalid. */
const displayClaim = z.string().optional().catch(undefined)

/** Claims of a session token. Name and picture are present only if the provider is configured to add them. */
const Claims = z.object({
  sub: z.string().min(1),
  /** Session id, needed for renewal and sign-out. Tokens for other services have none and are rejected. */
  sid: z.string().min(1),
  /** Origin of the site that it was issued for. */
  azp: z.string().nullish(),
  /** Audience, present only if the provider is configured to add it. */
  aud: z.union([z.string(), z.array(z.string())]).nullish(),
  /** `pending` while the session needs another step, such as a second factor. */
  sts: z.string().nullish(),
  name: displayClaim,
  email: displayClaim,
  picture: displayClaim,
})

export interface IdpSession {
  identity: Identity
  sid: string
}

export interface SessionTokens {
  /** Returns the session of a token; undefined when it is invalid. */
  verify(token: string): Promise<IdpSession | undefined>
  /** Returns the session of a token that expired at most `withinMs` ago; undefined for older and invalid tokens. */
  verifyPast(token: string, withinMs: number): Promise<IdpSession | undefined>
}

interface SessionTokensOptions {
  addresses(): IdpAddresses | undefined
  /** Returns the origin whose tokens are accepted; undefined if no public URL is set. */
  site(): string | undefined
  clock: Clock
  keySets: KeySets
  /** Deleted users and ended sessions, whose tokens stay valid until they expire. */
  denied: Pick<DeniedUsers, 'has'>
}

export const createSessionTokens = ({
  addresses,
  site,
  clock,
  keySets,
  denied,
}: SessionTokensOptions): SessionTokens => {
  const verifyAt = async (token: string, nowMs: number): Promise<IdpSession | undefined> => {
    const known = addresses()
    if (known === undefined) return undefined
    const payload = await verifyToken(token, { keys: keySets.at(known.keys), issuer: known.issuer, nowMs })
    const claims = Claims.safeParse(payload).data
    if (claims === undefined || claims.sts === 'pending' || isForAnotherSite(claims, site())) return undefined
    const { sub: subject, sid, name, email, picture: avatar } = claims
    if (await denied.has({ subject, sid })) return undefined
    return { identity: createUserIdentity({ subject, name, email, avatar }), sid }
  }
  return {
    verify: (token) => verifyAt(token, clock.now()),
    verifyPast: async (token, withinMs) => {
      const endedAtMs = await readExpiryMs(token)
      if (endedAtMs === undefined || clock.now() - endedAtMs > withinMs) return undefined
      return verifyAt(token, Math.min(clock.now(), endedAtMs - 1))
    },
  }
}

/** Returns whether a token was issued for another site. Without a public URL, true for any token with an audience. */
const isForAnotherSite = ({ azp, aud }: z.infer<typeof Claims>, site: string | undefined): boolean =>
  (Boolean(azp) && site !== undefined && azp !== site) || (aud != null && ![aud].flat().some((each) => each === site))

/** Returns the expiry of a token in epoch milliseconds, before its signature is verified. */
const readExpiryMs = async (token: string): Promise<number | undefined> => {
  const { decodeJwt } = await import('jose')
  try {
    const { exp } = decodeJwt(token)
    return exp === undefined ? undefined : exp * 1000
  } catch {
    return undefined
  }
}
