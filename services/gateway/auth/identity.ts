import type { Identity, UserProfile } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'

/** The identity of callers without credentials. */
export const anonymousCaller: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }

/** The identity of the gateway, for calls that no user requested. */
export const gatewayIdentity: Identity = { kind: 'service', subject: 'gateway', features: 'all' }

const maxSubjectLength = 256
const maxTextLength = 256
const maxAvatarLength = 2_048
const maxFieldLength = 1_024
const maxGroups = 256

/** User data as the authentication provider sends it, of any length. */
interface ProviderProfile {
  subject: string
  name?: string | undefined
  email?: string | undefined
  avatar?: string | undefined
  groups?: readonly string[]
  fields?: Readonly<Record<string, string>>
}

/**
 * Returns the identity of a signed-in user. Display data is truncated to the limits of the bus. A subject that is too
 * long throws `unauthenticated`, because a truncated one could equal that of another user.
 */
export const createUserIdentity = ({
  subject,
  name,
  email,
  avatar,
  groups = [],
  fields = {},
}: ProviderProfile): Identity => {
  if (subject.length > maxSubjectLength) {
    throw new ServiceError(
      'unauthenticated',
      `the authentication provider sent a user ID of more than ${maxSubjectLength} characters`,
    )
  }
  const profile: UserProfile = {
    ...(name && { name: name.slice(0, maxTextLength) }),
    ...(email && { email: email.slice(0, maxTextLength) }),
    ...(isPicture(avatar) && { avatar }),
    ...(groups.length > 0 && { groups: groups.slice(0, maxGroups).map((group) => group.slice(0, maxTextLength)) }),
    ...(Object.keys(fields).length > 0 && { fields: truncateFields(fields) }),
  }
  return { kind: 'user', subject, features: 'all', profile }
}

const isPicture = (address: string | undefined): address is string =>
  address !== undefined && address.length <= maxAvatarLength && /^https?:\/\//i.test(address)

const truncateFields = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, value.slice(0, maxFieldLength)]))
