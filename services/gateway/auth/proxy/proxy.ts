import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type SettingValues } from '#shared/config/setting.ts'
import type { Clock } from '#shared/time/clock.ts'
import { isSharedSecret } from '../../request/bearer.ts'
import { readIdentityHeader } from '../../request/header.ts'
import { proxySettings, trustedProviderSettings } from '../config.ts'
import { createUserIdentity } from '../identity.ts'
import type { KeySets } from '../key-sets.ts'
import { verifyToken } from '../signed-token.ts'

/**
 * Returns the user that a proxy authenticated, verified by its shared secret or by a Cloudflare Access token. Undefined
 * if the request has neither. Throws `unauthenticated` for an invalid token.
 */
export const identifyProxyUser = async (
  request: IncomingMessage,
  env: Environment,
  edgeAccess: CloudflareAccess,
): Promise<Identity | undefined> => {
  const named = readHeaderUser(request, env)
  if (named !== undefined) return createUserIdentity({ subject: named })
  const token = readIdentityHeader(request, 'edge-access-jwt-assertion')
  if (token === undefined || !edgeAccess.enabled()) return undefined
  const identity = await edgeAccess.verify(token)
  if (identity !== undefined) return identity
  throw new ServiceError('unauthenticated', 'invalid Cloudflare Access token')
}

/** Returns the user in the header of the proxy. Requires the shared secret, because any client can set the header. */
const readHeaderUser = (request: IncomingMessage, env: Environment): string | undefined => {
  const {
    SVC_PROXY_AUTH_SECRET: secret,
    SVC_PROXY_SHARED_SECRET_HEADER: secretHeader,
    SVC_PROXY_AUTH_HEADER: nameHeader,
  } = parseSettings(proxySettings, env)
  if (secret === undefined || !isSharedSecret(readIdentityHeader(request, secretHeader), secret)) return undefined
  return readIdentityHeader(request, nameHeader)
}

const { SVC_EDGE_ACCESS_TEAM_DOMAIN, SVC_EDGE_ACCESS_AUD } = proxySettings

const optionalClaim = z.string().optional().catch(undefined)

/** Tokens of users have an email address; those of programs have a common name and no subject. */
const Claims = z.object({
  sub: optionalClaim,
  email: optionalClaim,
  name: optionalClaim,
  common_name: optionalClaim,
})

/** Verifies tokens of Cloudflare Access. */
export interface CloudflareAccess {
  /** Returns whether team and audience are set. Without the audience, tokens for other applications would be valid. */
  enabled(): boolean
  verify(token: string): Promise<Identity | undefined>
}

interface EdgeAccessOptions {
  env: Environment
  clock: Clock
  keySets: KeySets
}

export const createCloudflareAccess = ({ env, clock, keySets }: EdgeAccessOptions): CloudflareAccess => {
  const configured = () => {
    const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_EDGE_ACCESS_AUD: audience } = parseSettings(
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
      const payload = await verifyToken(token, { keys, issuer, audience, nowMs: clock.now() })
      const claims = Claims.safeParse(payload).data
      const subject = claims?.sub || claims?.email || claims?.common_name
      return subject
        ? createUserIdentity({ subject, email: claims?.email, name: claims?.name ?? claims?.common_name })
        : undefined
    },
  }
}

type TrustedValues = SettingValues<typeof trustedProviderSettings>

/**
 * Returns the user in the headers of a trusted proxy; undefined for other clients, and without a user. Throws
 * `forbidden` for a user without an allowed group.
 */
export const identifyTrustedUser = (request: IncomingMessage, env: Environment): Identity | undefined => {
  const settings = parseSettings(trustedProviderSettings, env)
  if (!isTrusted(request, settings)) return undefined
  const given = (name: string) => readIdentityHeader(request, name)
  const email = given(settings.SVC_TRUSTED_EMAIL_HEADER)
  const subject = given(settings.SVC_TRUSTED_USER_HEADER) ?? email
  if (subject === undefined) return undefined
  const groups = groupsOf(given(settings.SVC_TRUSTED_GROUPS_HEADER), given(settings.SVC_TRUSTED_ROLE_HEADER))
  requireAllowedGroup(groups, settings.SVC_TRUSTED_ALLOWED_GROUPS)
  return createUserIdentity({
    subject,
    email,
    name: given(settings.SVC_TRUSTED_NAME_HEADER),
    avatar: given(settings.SVC_TRUSTED_AVATAR_HEADER),
    groups,
    fields: Object.fromEntries(
      settings.SVC_TRUSTED_CUSTOM_HEADERS.flatMap(({ field, header }) => {
        const value = given(header)
        return value === undefined ? [] : [[field, value]]
      }),
    ),
  })
}

/** Returns whether the user headers are trusted. A secret that is set at run time replaces ALLOW_INSECURE. */
const isTrusted = (request: IncomingMessage, settings: TrustedValues): boolean => {
  const { SVC_TRUSTED_AUTH_SECRET: secret, SVC_TRUSTED_SHARED_SECRET_HEADER: header } = settings
  if (secret === undefined) return settings.SVC_TRUSTED_ALLOW_INSECURE
  return isSharedSecret(readIdentityHeader(request, header), secret)
}

const groupsOf = (groups: string | undefined, role: string | undefined): string[] => {
  const named = (groups ?? '').split(/[\s,]+/).filter((group) => group !== '')
  return [...new Set(role === undefined ? named : [...named, role])]
}

const requireAllowedGroup = (groups: readonly string[], allowed: readonly string[]): void => {
  if (allowed.length === 0) return
  const wanted = new Set(allowed.map((group) => group.toLowerCase()))
  if (groups.some((group) => wanted.has(group.toLowerCase()))) return
  throw new ServiceError('forbidden', 'access denied: none of your groups is allowed; contact the operator')
}
