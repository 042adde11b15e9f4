import type { Request, RequestHandler, Response } from 'express'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { requireAllowedHost } from './server/allowed-hosts.ts'
import { resolveRateLimitKey, resolveClientNetwork } from './request/client-address.ts'
import { resolveCloudMode } from './installation/edition.ts'
import { getExchange } from './response/http-exchange.ts'
import { findRouteAccessError, limitToPermissions } from './features/authorization.ts'
import type { Gateway } from './gateway.ts'
import { anonymousCaller } from './auth/identity.ts'
import { enforceRateLimit, type RateLimitState, createRateLimitHeaders } from './limits/limits.ts'
import { parseQueryString } from './request/parse.ts'
import { resolvePublicUrl } from './request/public-url.ts'
import type { Route } from './http-route.ts'

type AnyRequest = Request<Record<string, string>>

/**
 * Returns the middleware that admits or rejects a request before its body is read. It checks the rate limit of the
 * address, authenticates the caller, and checks access and feature. For the agent it also checks the rate limit of the
 * user.
 */
export const createAdmissionMiddleware =
  (route: Route, gateway: Gateway): RequestHandler<Record<string, string>> =>
  async (request, response, next) => {
    const { limits, env } = gateway
    route.open?.({ headers: request.headers, query: parseQueryString(request.url) }, env)
    if (route.limit !== 'none') {
      applyLimit(response, await limits.countAddress(route.limit, resolveRateLimitKey(request, env)))
    }
    const identity = await callerOf(route, gateway, request, response)
    if (route.dials && isUnknown(identity)) requireAllowedHost(request, env)
    const policy = gateway.policy()
    const refusal = findRouteAccessError(route, identity, policy)
    if (refusal) throw refusal
    if (route.limit === 'agent') {
      const prefix = resolveClientNetwork(request, env)
      for await (const standing of limits.countQuestion(identity, prefix)) applyLimit(response, standing)
    }
    getExchange(response).identity = limitToPermissions(identity, policy.permissions)
    next()
  }

const isUnknown = ({ kind }: Identity): boolean => kind === 'anonymous' || kind === 'guest'

/** Sets the rate limit headers; a later, stricter budget overwrites them. Throws if the budget is used up. */
const applyLimit = (response: Response, standing: RateLimitState): void => {
  for (const [name, value] of createRateLimitHeaders(standing)) response.setHeader(name, value)
  enforceRateLimit(standing)
}

/**
 * Returns the caller. In cloud mode, an anonymous caller first gets 401 with a guest cookie, and is a guest once it
 * sends the cookie. A client without cookies therefore does not become a new guest with each request.
 */
const callerOf = async (route: Route, gateway: Gateway, request: AnyRequest, response: Response): Promise<Identity> => {
  const identity = await authenticate(route, gateway, request)
  const isGuest = route.guests && identity.kind === 'anonymous' && resolveCloudMode(gateway.build, gateway.env).runtime
  if (!isGuest) return identity
  const guest = await gateway.guests.find(request.headers)
  if (guest !== undefined) return guest
  const cookie = await gateway.guests.invite(request.headers, resolvePublicUrl(request, gateway.env))
  response.appendHeader('Set-Cookie', cookie)
  throw new ServiceError(
    'unauthenticated',
    'missing guest cookie: send the request again with the cookie of this response, or sign in',
  )
}

/**
 * Authenticates the caller. Routes that anonymous callers may use ignore failures: an expired session, a bearer token
 * that only the route itself checks, or an unavailable identity provider.
 */
const authenticate = async ({ access, identify }: Route, gateway: Gateway, request: AnyRequest): Promise<Identity> => {
  if (identify) return identify(request, gateway)
  try {
    return await gateway.identify(request)
  } catch (error) {
    const mayBeUnknown = access === 'anonymous' || access === 'own-bearer'
    if (mayBeUnknown && error instanceof ServiceError && isAboutCaller(error)) return anonymousCaller
    throw error
  }
}

const isAboutCaller = ({ code }: ServiceError): boolean =>
  code === 'unauthenticated' || code === 'forbidden' || code === 'unavailable'
