import { Feature, features, type Identity, mayUseFeature, type CallContext, type ApiKeyScope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import type { Gateway } from '../gateway.ts'
import { HttpError } from '../response/http-exchange.ts'
import type { Route } from '../http-route.ts'
import type { Permissions, AccessPolicy } from './policy.ts'

type RouteAccess = Pick<Route, 'access' | 'feature' | 'guests'>

/**
 * Returns the error for a caller that may not use a route; undefined if it may. Routes with access `own-bearer` check
 * their bearer token themselves.
 */
export const findRouteAccessError = (
  { access, feature, guests = false }: RouteAccess,
  identity: Identity,
  policy: AccessPolicy,
): Error | undefined => {
  const isOpen = access === 'anonymous' || access === 'own-bearer'
  if (feature !== null) {
    if (!policy.permissions[feature].enabled) return createFeatureDisabledError(feature)
    if (!isOpen) {
      const refusal = findFeatureAccessError(feature, identity, policy.permissions)
      if (refusal) return refusal
    }
  }
  if (isOpen || (guests && identity.kind === 'guest')) return undefined
  if (isNotSignedIn(identity) && !isAccessAllowed(policy.anonymous, access)) return createSignInError()
  return hasScopeForRoute(identity, { access, feature })
    ? undefined
    : new ServiceError('forbidden', `the API key lacks the scope "${listSufficientScopes({ access, feature })[0]}"`, {
        details: { scope: listSufficientScopes({ access, feature })[0] },
      })
}

/** Returns the error for a caller that may not use a feature; undefined if it may. */
export const findFeatureAccessError = (
  feature: Feature,
  identity: Identity,
  permissions: Permissions,
): Error | undefined => {
  const { enabled, access } = permissions[feature]
  if (!enabled) return createFeatureDisabledError(feature)
  if (access === 'authenticated' && isNotSignedIn(identity)) return createSignInError()
  return mayUseFeature(identity, feature)
    ? undefined
    : new ServiceError('forbidden', `you do not have access to feature "${feature}"`)
}

/**
 * Replaces the `forbidden` error of a service for a missing feature by the error of the gateway. That error
 * distinguishes disabled features, missing sign-in and missing permissions. Returns all other errors unchanged.
 */
export const explainForbiddenError = (error: unknown, identity: Identity, { permissions }: AccessPolicy): unknown => {
  if (!(error instanceof ServiceError) || error.code !== 'forbidden') return error
  const feature = Feature.safeParse(error.details?.feature)
  return feature.success ? (findFeatureAccessError(feature.data, identity, permissions) ?? error) : error
}

/** Returns the features of an identity that the permissions allow. */
export const listUsableFeatures = (identity: Identity, permissions: Permissions): Identity['features'] => {
  const usable = features.filter((feature) => findFeatureAccessError(feature, identity, permissions) === undefined)
  return usable.length === features.length ? 'all' : usable
}

/** Cache of `limitToPermissions`. Anonymous callers share one identity object, and permissions rarely change. */
const limitedIdentities = new WeakMap<Permissions, WeakMap<Identity, Identity>>()

/** Returns the identity that other services receive, limited to the features that it may use. */
export const limitToPermissions = (identity: Identity, permissions: Permissions): Identity => {
  const known = limitedIdentities.get(permissions) ?? new WeakMap<Identity, Identity>()
  limitedIdentities.set(permissions, known)
  const limitedIdentity = known.get(identity) ?? { ...identity, features: listUsableFeatures(identity, permissions) }
  known.set(identity, limitedIdentity)
  return limitedIdentity
}

/** Returns whether a caller is not signed in. */
const isNotSignedIn = ({ kind }: Identity): boolean => kind === 'anonymous' || kind === 'guest'

const isAccessAllowed = (right: AccessPolicy['anonymous'], access: Route['access']): boolean =>
  right === 'write' || (right === 'read' && access === 'read')

const createFeatureDisabledError = (feature: Feature): HttpError =>
  new HttpError(404, 'feature-disabled', `feature "${feature}" is disabled`)

const createSignInError = (): ServiceError =>
  new ServiceError('unauthenticated', 'authentication required; sign in or send an API key')

/** Returns whether the caller may change users and grants of hosts; false while `query` is unavailable. */
export const canManageUsers = async ({ query, policy }: Gateway, call: CallContext): Promise<boolean> => {
  if (findRouteAccessError({ access: 'write', feature: 'SECURITY' }, call.identity, policy())) return false
  return (await ignoreUnavailable(() => query.management({}, call)))?.enabled === true
}

/**
 * Returns whether the scopes of a caller allow a route; callers without scopes are not limited. The scopes `agent`
 * and `mcp` allow only the routes of the agent and of the MCP server. The data that these two read depends on the
 * features of the caller.
 */
export const hasScopeForRoute = (
  { scopes }: Identity,
  { access, feature }: Pick<Route, 'access' | 'feature'>,
): boolean => {
  if (scopes === undefined || access === 'anonymous' || access === 'own-bearer') return true
  return listSufficientScopes({ access, feature }).some((scope) => scopes.includes(scope))
}

/** Returns the scopes that allow a route, narrowest first; one of them is sufficient. */
const listSufficientScopes = ({ access, feature }: Pick<Route, 'access' | 'feature'>): readonly ApiKeyScope[] => {
  if (feature === 'AGENT') return ['agent']
  if (feature === 'MCP') return ['mcp']
  return access === 'write' ? ['write'] : ['read', 'write']
}
