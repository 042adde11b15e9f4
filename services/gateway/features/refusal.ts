import { Feature, features, type Identity, mayUse, type Call, type Scope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { whenAvailable } from '#shared/bus/failure.ts'
import type { Gateway } from '../gateway.ts'
import { HttpError } from '../response/http-exchange.ts'
import type { Route } from '../http-route.ts'
import type { Permissions, Policy } from './policy.ts'

type RouteAccess = Pick<Route, 'access' | 'feature' | 'guests'>

/**
 * Returns why a caller may not use a route; undefined when it may. Routes of access `own-bearer` check their bearer
 * themselves.
 */
export const refusalOf = (
  { access, feature, guests = false }: RouteAccess,
  identity: Identity,
  policy: Policy,
): Error | undefined => {
  const isOpen = access === 'anonymous' || access === 'own-bearer'
  if (feature !== null) {
    if (!policy.permissions[feature].enabled) return featureDisabled(feature)
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

/** Returns why a caller may not use a feature; undefined when it may. */
export const featureRefusal = (feature: Feature, identity: Identity, permissions: Permissions): Error | undefined => {
  const { enabled, access } = permissions[feature]
  if (!enabled) return featureDisabled(feature)
  if (access === 'authenticated' && isStranger(identity)) return signIn()
  return mayUse(identity, feature)
    ? undefined
    : new ServiceError('forbidden', `you do not have access to feature "${feature}"`)
}

/**
 * Replaces a service's `forbidden` for a feature by the gateway's own error, which says whether signing in would
 * help.
 */
export const explained = (error: unknown, identity: Identity, { permissions }: Policy): unknown => {
  if (!(error instanceof ServiceError) || error.code !== 'forbidden') return error
  const feature = Feature.safeParse(error.details?.feature)
  return feature.success ? (featureRefusal(feature.data, identity, permissions) ?? error) : error
}

/** Returns the features of an identity that the permissions allow. */
export const usableFeatures = (identity: Identity, permissions: Permissions): Identity['features'] => {
  const usable = features.filter((feature) => featureRefusal(feature, identity, permissions) === undefined)
  return usable.length === features.length ? 'all' : usable
}

/** Memoizes a pure function: anonymous callers share one identity, and permissions change only with a variable. */
const limited = new WeakMap<Permissions, WeakMap<Identity, Identity>>()

/** Returns the identity that other services receive, limited to the features that it may use. */
export const withinPermissions = (identity: Identity, permissions: Permissions): Identity => {
  const known = limited.get(permissions) ?? new WeakMap<Identity, Identity>()
  limited.set(permissions, known)
  const limitedIdentity = known.get(identity) ?? { ...identity, features: usableFeatures(identity, permissions) }
  known.set(identity, limitedIdentity)
  return limitedIdentity
}

/** Returns whether a caller is not signed in. */
const isStranger = ({ kind }: Identity): boolean => kind === 'anonymous' || kind === 'guest'

const opens = (right: Policy['anonymous'], access: Route['access']): boolean =>
  right === 'write' || (right === 'read' && access === 'read')

const featureDisabled = (feature: Feature): HttpError =>
  new HttpError(404, 'feature-disabled', `feature "${feature}" is disabled`)

const signIn = (): ServiceError => new ServiceError('unauthenticated', 'sign in, or send an API key, to use this')

/** Returns whether the caller may change users and grants of hosts; false while that is unknown. */
export const mayManage = async ({ query, policy }: Gateway, call: Call): Promise<boolean> => {
  if (refusalOf({ access: 'write', feature: 'SECURITY' }, call.identity, policy())) return false
  return (await whenAvailable(() => query.management({}, call)))?.enabled === true
}

/**
 * Returns whether the scopes of a caller allow a route; callers without scopes are not limited. The agent and the MCP
 * server have their own scopes, which allow nothing else; the features of the caller decide what these two may read.
 */
export const scopesOpen = ({ scopes }: Identity, { access, feature }: Pick<Route, 'access' | 'feature'>): boolean => {
  if (scopes === undefined || access === 'anonymous' || access === 'own-bearer') return true
  return openingScopes({ access, feature }).some((scope) => scopes.includes(scope))
}

/** Returns the scopes that each allow a route, the narrowest first. */
const openingScopes = ({ access, feature }: Pick<Route, 'access' | 'feature'>): readonly Scope[] => {
  if (feature === 'AGENT') return ['agent']
  if (feature === 'MCP') return ['mcp']
  return access === 'write' ? ['write'] : ['read', 'write']
}
