import type { Request, RequestHandler, Response } from 'express'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { requireAllowedHost } from './server/allowed-hosts.ts'
import { clientAddress, clientPrefix } from './request/client-address.ts'
import { cloudMode } from './installation/cloud-mode.ts'
import { exchangeOf } from './response/http-exchange.ts'
import { refusalOf, withinPermissions } from './features/refusal.ts'
import type { Gateway } from './gateway.ts'
import { anonymous } from './auth/identity.ts'
import { requireWithin, type Standing, standingHeaders } from './limits/limits.ts'
import { publicUrl } from './request/public-url.ts'
import type { Route } from './http-route.ts'

type AnyRequest = Request<Record<string, string>>

/**
 * Lets a request in, before anything of its body is read: where the route is open, counted by its address, known by what it presents, allowed by the
 * route's access and feature, and where it asks the agent counted by who asks.
 */
export const admit =
  (route: Route, gateway: Gateway): RequestHandler<Record<string, string>> =>
  async (request, response, next) => {
    const { limits, env } = gateway
    route.open?.(request.headers, env)
    if (route.limit !== 'none') {
      hold(response, await limits.countAddress(route.limit, clientAddress(request, env)))
    }
    const identity = await callerOf(route, gateway, request, response)
    if (route.dials && isUnknown(identity)) requireAllowedHost(request, env)
    const policy = gateway.policy()
    const refusal = refusalOf(route, identity, policy)
    if (refusal) throw refusal
    if (route.limit === 'agent') {
      const prefix = clientPrefix(request, env)
      for await (const standing of limits.countQuestion(identity, prefix)) hold(response, standing)
    }
    exchangeOf(response).identity = withinPermissions(identity, policy.permissions)
    next()
  }

const isUnknown = ({ kind }: Identity): boolean => kind === 'anonymous' || kind === 'guest'

/** Tells the caller where it stands, the narrower of two budgets last, and refuses it when the budget is used up. */
const hold = (response: Response, standing: Standing): void => {
  for (const [name, value] of standingHeaders(standing)) response.setHeader(name, value)
  requireWithin(standing)
}

/** The caller. A visitor of cloud mode becomes a guest once it has sent back the cookie: whatever keeps none could be a new guest each time. */
const callerOf = async (route: Route, gateway: Gateway, request: AnyRequest, response: Response): Promise<Identity> => {
  const identity = await known(route, gateway, request)
  const isGuest = route.guests && identity.kind === 'anonymous' && cloudMode(gateway.build, gateway.env).runtime
  if (!isGuest) return identity
  const guest = await gateway.guests.find(request.headers)
  if (guest !== undefined) return guest
  const cookie = await gateway.guests.invite(request.headers, publicUrl(request, gateway.env))
  response.appendHeader('Set-Cookie', cookie)
  throw new ServiceError(
    'unauthenticated',
    'guests need the cookie that this response sets; send the request again with it, or sign in',
  )
}

/**
 * Whoever may come unknown is not refused for a session that has ended, for a bearer that is the route's own, or because nobody
 * can be asked now who it is.
 */
const known = async ({ access, identify }: Route, gateway: Gateway, request: AnyRequest): Promise<Identity> => {
  if (identify) return identify(request, gateway)
  try {
    return await gateway.identify(request)
  } catch (error) {
    const mayBeUnknown = access === 'anonymous' || access === 'own-bearer'
    if (mayBeUnknown && error instanceof ServiceError && isAboutCaller(error)) return anonymous
    throw error
  }
}

const isAboutCaller = ({ code }: ServiceError): boolean =>
  code === 'unauthenticated' || code === 'forbidden' || code === 'unavailable'
