import { decodeJwt } from 'jose'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DeniedUsers } from '../denied.ts'
import type { KeySets } from '../key-sets.ts'
import { person } from '../identity.ts'
import { readToken } from '../signed-token.ts'
import type { IdpAddresses } from './addresses.ts'

/** What is only shown may be missing or of any other shape; the person is the same. */
const shown = z.string().optional().catch(undefined)

/** What a session token says. Names and pictures are there when the operator has the provider add them. */
const Claims = z.object({
  sub: z.string().min(1),
  /** The session, by which it is renewed and ended. Tokens that the provider makes for other services have none, and count for nothing. */
  sid: z.string().min(1),
  /** The site it was made for. */
  azp: z.string().nullish(),
  /** Whom it was made for, where the operator has the provider say so; sessions of sites have none. */
  aud: z.union([z.string(), z.array(z.string())]).nullish(),
  /** `pending` while the session needs another step, such as a second factor. */
  sts: z.string().nullish(),
  name: shown,
  email: shown,
  picture: shown,
})

export interface Session {
  identity: Identity
  sid: string
}

export interface SessionTokens {
  /** Returns the session of a token; undefined when it is invalid. */
  verify(token: string): Promise<Session | undefined>
  /** Returns the session of a token that expired at most `withinMs` ago and may be renewed. */
  verifyPast(token: string, withinMs: number): Promise<Session | undefined>
}

interface SessionTokensOptions {
  addresses(): IdpAddresses | undefined
  /** Sites whose tokens count; undefined when that is not known. */
  site(): string | undefined
  clock: Clock
  keySets: KeySets
  /** Sessions and people that the provider said are gone; a token does not know of it. */
  denied: Pick<DeniedUsers, 'has'>
}

export const openSessionTokens = ({ addresses, site, clock, keySets, denied }: SessionTokensOptions): SessionTokens => {
  const verifyAt = async (token: string, nowMs: number): Promise<Session | undefined> => {
    const known = addresses()
    if (known === undefined) return undefined
    const payload = await readToken(token, { keys: keySets.at(known.keys), issuer: known.issuer, nowMs })
    const claims = Claims.safeParse(payload).data
    if (claims === undefined || claims.sts === 'pending' || isForAnother(claims, site())) return undefined
    const { sub: subject, sid, name, email, picture: avatar } = claims
    if (await denied.has({ subject, sid })) return undefined
    return { identity: person({ subject, name, email, avatar }), sid }
  }
  return {
    verify: (token) => verifyAt(token, clock.now()),
    verifyPast: async (token, withinMs) => {
      const endedAtMs = endOf(token)
      if (endedAtMs === undefined || clock.now() - endedAtMs > withinMs) return undefined
      return verifyAt(token, Math.min(clock.now(), endedAtMs - 1))
    },
  }
}

/** An unknown site may be the one in `azp`, but an audience without our name is never ours. */
const isForAnother = ({ azp, aud }: z.infer<typeof Claims>, site: string | undefined): boolean =>
  (Boolean(azp) && site !== undefined && azp !== site) || (aud != null && ![aud].flat().some((each) => each === site))

/** When a token says it ends; whether that is true is seen by its signature. */
const endOf = (token: string): number | undefined => {
  try {
    const { exp } = decodeJwt(token)
    return exp === undefined ? undefined : exp * 1000
  } catch {
    return undefined
  }
}
