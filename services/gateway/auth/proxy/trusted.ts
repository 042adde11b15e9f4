import type { IncomingMessage } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Values } from '#shared/config/setting.ts'
import { trustedSettings } from '../config.ts'
import { identityHeader } from '../../request/header.ts'
import { person } from '../identity.ts'
import { isSharedSecret } from '../../request/compare-secret.ts'

type TrustedValues = Values<typeof trustedSettings>

/** The person whom a trusted proxy names; undefined when it is not the proxy that asks, or it names nobody. Throws `forbidden` for a person without an allowed group. */
export const trustedPerson = (request: IncomingMessage, env: Environment): Identity | undefined => {
  const settings = read(trustedSettings, env)
  if (!isTrusted(request, settings)) return undefined
  const given = (name: string) => identityHeader(request, name)
  const email = given(settings.SVC_TRUSTED_EMAIL_HEADER)
  const subject = given(settings.SVC_TRUSTED_USER_HEADER) ?? email
  if (subject === undefined) return undefined
  const groups = groupsOf(given(settings.SVC_TRUSTED_GROUPS_HEADER), given(settings.SVC_TRUSTED_ROLE_HEADER))
  admit(groups, settings.SVC_TRUSTED_ALLOWED_GROUPS)
  return person({
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

/** Exactly one gate is open: the start is refused with none or both, and a secret that appears later closes the other. */
const isTrusted = (request: IncomingMessage, settings: TrustedValues): boolean => {
  const { SVC_TRUSTED_AUTH_SECRET: secret, SVC_TRUSTED_SHARED_SECRET_HEADER: header } = settings
  if (secret === undefined) return settings.SVC_TRUSTED_ALLOW_INSECURE
  return isSharedSecret(identityHeader(request, header), secret)
}

const groupsOf = (groups: string | undefined, role: string | undefined): string[] => {
  const named = (groups ?? '').split(/[\s,]+/).filter((group) => group !== '')
  return [...new Set(role === undefined ? named : [...named, role])]
}

const admit = (groups: readonly string[], allowed: readonly string[]): void => {
  if (allowed.length === 0) return
  const wanted = new Set(allowed.map((group) => group.toLowerCase()))
  if (groups.some((group) => wanted.has(group.toLowerCase()))) return
  throw new ServiceError('forbidden', 'you are signed in, but none of your groups may use this installation')
}
