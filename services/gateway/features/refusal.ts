import { Feature, features, type Identity, mayUse } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { openingScopes, scopesOpen } from '../auth/keys/scopes.ts'
import { HttpError } from '../response/http-error.ts'
import type { Route } from '../route.ts'
import type { Permissions } from './permissions.ts'
import type { Policy } from './policy.ts'

type Guarded = Pick<Route, 'access' | 'feature' | 'guests'>

/** Why a caller may not use a route; undefined when it may. Routes with a bearer of their own ask for it themselves. */
export const refusalOf = (
  { access, feature, guests = false }: Guarded,
  identity: Identity,
  policy: Policy,
): Error | undefined => {
  const isOpen = access === 'anonymous' || access === 'own-bearer'
  if (feature !== null) {
    if (!policy.permissions[feature].enabled) return switchedOff(feature)
    if (!isOpen) {
      const refusal = featureRefusal(feature, identity, policy.permissions)
      if (refusal) return refusal
    }
  }
  if (isOpen || (guests && identity.kind === 'guest')) return undefined
  if (isStranger(identity) && !opens(policy.anonymous, access)) return signIn()
  return scopesOpen(identity, { access, feature })
    ? undefined
    : new ServiceError('forbidden', `the scopes of this key do not allow ${access === 'write' ? 'writing' : 'this'}`, {
        details: { scope: openingScopes({ access, feature })[0] },
      })
}

/** Why a caller may not use a feature; undefined when it may. */
export const featureRefusal = (feature: Feature, identity: Identity, permissions: Permissions): Error | undefined => {
  const { enabled, access } = permissions[feature]
  if (!enabled) return switchedOff(feature)
  if (access === 'authenticated' && isStranger(identity)) return signIn()
  return mayUse(identity, feature) ? undefined : new ServiceError('forbidden', `you may not use the feature ${feature}`)
}

/** What a service's refusal of a feature means at the door, where it is known whether signing in would help. */
export const explained = (error: unknown, identity: Identity, { permissions }: Policy): unknown => {
  if (!(error instanceof ServiceError) || error.code !== 'forbidden') return error
  const feature = Feature.safeParse(error.details?.feature)
  return feature.success ? (featureRefusal(feature.data, identity, permissions) ?? error) : error
}

/** The features that a caller may use, of those its identity already allows. */
export const usableFeatures = (identity: Identity, permissions: Permissions): Identity['features'] => {
  const usable = features.filter((feature) => featureRefusal(feature, identity, permissions) === undefined)
  return usable.length === features.length ? 'all' : usable
}

/** A memory of a pure function only: strangers have one identity, and permissions stand until a variable changes. */
const limited = new WeakMap<Permissions, WeakMap<Identity, Identity>>()

/** The caller as other services see it: with the features that it may use here. */
export const withinPermissions = (identity: Identity, permissions: Permissions): Identity => {
  const known = limited.get(permissions) ?? new WeakMap<Identity, Identity>()
  limited.set(permissions, known)
  const there = known.get(identity) ?? { ...identity, features: usableFeatures(identity, permissions) }
  known.set(identity, there)
  return there
}

/** Whether nothing is known of a caller. */
const isStranger = ({ kind }: Identity): boolean => kind === 'anonymous' || kind === 'guest'

const opens = (right: Policy['anonymous'], access: Route['access']): boolean =>
  right === 'write' || (right === 'read' && access === 'read')

const switchedOff = (feature: Feature): HttpError =>
  new HttpError(404, 'feature-disabled', `the feature ${feature} is switched off here`)

const signIn = (): ServiceError => new ServiceError('unauthenticated', 'sign in, or send an API key, to use this')
