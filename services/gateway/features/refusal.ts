import { Feature, features, type Identity, mayUse, type Call, type Scope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { whenAvailable } from '#shared/bus/when-available.ts'
import type { Gateway } from '../gateway.ts'
import { HttpError } from '../response/http-exchange.ts'
import type { Route } from '../http-route.ts'
import type { Permissions, Policy } from './policy.ts'

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

/** Returns whether the caller may change users and grants of hosts; false while that is unknown. */
export const mayManage = async ({ query, policy }: Gateway, call: Call): Promise<boolean> => {
  if (refusalOf({ access: 'write', feature: 'SECURITY' }, call.identity, policy())) return false
  return (await whenAvailable(() => query.management({}, call)))?.enabled === true
}

/**
 * Whether the scopes of a caller open a route; callers without scopes are not limited by any. The agent and the tool server
 * have scopes of their own, which open nothing else: what they read on the way is for their caller's features to allow.
 */
export const scopesOpen = ({ scopes }: Identity, { access, feature }: Pick<Route, 'access' | 'feature'>): boolean => {
  if (scopes === undefined || access === 'anonymous' || access === 'own-bearer') return true
  return openingScopes({ access, feature }).some((scope) => scopes.includes(scope))
}

/** The scopes of which any one opens a route, the narrowest first. */
const openingScopes = ({ access, feature }: Pick<Route, 'access' | 'feature'>): readonly Scope[] => {
  if (feature === 'AGENT') return ['agent']
  if (feature === 'MCP') return ['mcp']
  return access === 'write' ? ['write'] : ['read', 'write']
}
