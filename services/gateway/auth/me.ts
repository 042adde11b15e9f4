import { features, type Identity } from '#proto/call.ts'
import type { Me } from '#proto/http/session.ts'
import { refusalOf, usableFeatures } from '../features/refusal.ts'
import type { Gateway } from '../gateway.ts'

/** Where the web sends people who want to sign in by the identity provider. */
export const signInPath = '/api/v1/auth/sign-in'

/** What a caller is told of itself. */
export const meOf = (identity: Identity, { auth, keys, policy }: Pick<Gateway, 'auth' | 'keys' | 'policy'>): Me => {
  const current = policy()
  const may = (access: 'read' | 'write') => refusalOf({ access, feature: null }, identity, current) === undefined
  const usable = usableFeatures(identity, current.permissions)
  const provider = auth.provider()
  return {
    kind: identity.kind,
    subject: identity.subject,
    ...identity.profile,
    provider,
    features: features.filter((feature) => usable === 'all' || usable.includes(feature)),
    may: { read: may('read'), write: may('write') },
    signIn: { page: provider === 'idp' ? signInPath : null, key: keys.enabled() },
  }
}
