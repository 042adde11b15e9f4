import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { proxySettings } from '../config.ts'
import type { KeySets } from '../key-sets.ts'
import { person } from '../person.ts'
import { readToken } from '../token.ts'

const { SVC_EDGE_ACCESS_TEAM_DOMAIN, SVC_EDGE_ACCESS_AUD } = proxySettings

const said = z.string().optional().catch(undefined)

/** Tokens of people carry an email; those of programs a name, and no subject. */
const Claims = z.object({ sub: said, email: said, name: said, common_name: said })

/** The access gateway in front, which signs who may pass. */
export interface EdgeAccess {
  /** Only with both its team and the audience: a token for another application of the team is none for this one. */
  enabled(): boolean
  verify(token: string): Promise<Identity | undefined>
}

interface EdgeAccessOptions {
  env: Environment
  clock: Clock
  keySets: KeySets
}

export const openEdgeAccess = ({ env, clock, keySets }: EdgeAccessOptions): EdgeAccess => {
  const configured = () => {
    const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_EDGE_ACCESS_AUD: audience } = read(
      { SVC_EDGE_ACCESS_TEAM_DOMAIN, SVC_EDGE_ACCESS_AUD },
      env,
    )
    return team && audience ? { team: team.origin, audience } : undefined
  }
  return {
    enabled: () => configured() !== undefined,
    verify: async (token) => {
      const known = configured()
      if (known === undefined) return undefined
      const { team: issuer, audience } = known
      const keys = keySets.at(`${issuer}/cdn-cgi/access/certs`)
      const payload = await readToken(token, { keys, issuer, audience, nowMs: clock.now() })
      const claims = Claims.safeParse(payload).data
      const subject = claims?.sub || claims?.email || claims?.common_name
      return subject ? person({ subject, email: claims?.email, name: claims?.name ?? claims?.common_name }) : undefined
    },
  }
}
