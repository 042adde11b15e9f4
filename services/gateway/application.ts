import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http'
import express, { type Express, type RequestHandler, type Router } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { createAdmissionMiddleware } from './admission.ts'
import { allowsUnverifiedRequests } from './auth/provider.ts'
import type { Gateway } from './gateway.ts'
import type { Route, HttpMethod } from './http-route.ts'
import { warnOfOtherAddressHeader } from './request/client-address.ts'
import { createBodyReader } from './request/read-body.ts'
import { createErrorHandler } from './response/error-response.ts'
import { HttpError, getExchange } from './response/http-exchange.ts'
import { createRouteHandler } from './run-route.ts'
import { createAllowedHostGuard } from './server/allowed-hosts.ts'
import { createCorsMiddleware } from './server/cross-origin.ts'
import { observeRequests, setFixedHeaders } from './server/receive.ts'
import type { HeaderLines, SecurityHeaders } from './server/security-headers.ts'
import { serveBuildInstructions, serveWeb } from './web/web-build.ts'

/** The routes, headers and web build that the application serves. */
interface ApplicationDeps {
  routes: readonly Route[]
  headers: SecurityHeaders
  /** The web build, and the headers that allow the inline scripts of its pages; undefined without a build. */
  web: { directory: string; headersOf: (indexHtml: string) => HeaderLines } | undefined
}

/** Creates the Express application. Requests pass through the middleware in the order below. */
export const createApplication = (gateway: Gateway, { routes, headers, web }: ApplicationDeps): Express => {
  const application = express()
  application.disable('x-powered-by')
  application.disable('etag')
  application.set('query parser', false)
  application.enable('case sensitive routing')

  application.use(observeRequests(gateway.telemetry, headers))
  application.use(warnOfOtherAddressHeader(gateway.env, gateway.telemetry.log))
  application.use(
    createAllowedHostGuard(routes, gateway.env, () => allowsUnverifiedRequests(gateway.env, gateway.build)),
  )
  application.use(createCorsMiddleware(gateway.env))
  application.use('/api/v1/repldb', rejectUnlistedRequests(routes))
  application.use(byFamily(routes, (those) => routerOf(those, gateway, headers.api)))
  application.use(/^\/api(?=\/|$)/i, rejectUnknownPath)
  application.use(web === undefined ? serveBuildInstructions : serveWeb(web.directory, web.headersOf))
  application.use(rejectUnknownFile)
  application.use(createErrorHandler(gateway.telemetry.log))
  return application
}

/** Dispatches to one router per path family, because a router tests its routes sequentially. */
const byFamily = (routes: readonly Route[], routerOf: (those: readonly Route[]) => Router): RequestHandler => {
  const families = Map.groupBy(routes, ({ path }) => familyOf(path))
  const routers = new Map([...families].map(([family, those]) => [family, routerOf(those)]))
  return (request, response, next) => {
    const router = routers.get(familyOf(request.path))
    if (router) router(request, response, next)
    else next()
  }
}

/** Returns the path family: the segment after `/api/v1/` or `/api/`, never a parameter; undefined for other paths. */
const familyOf = (path: string): string | undefined => /^\/api\/(?:v1\/)?([^/]+)/.exec(path)?.[1]

const routerOf = (routes: readonly Route[], gateway: Gateway, headers: HeaderLines): Router => {
  const router = express.Router({ caseSensitive: true })
  for (const [path, those] of Map.groupBy(routes, (route) => route.path)) {
    const here = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'))
    here.all(namesRoute(path))
    // Routes outside /api return data and no pages, so they get the headers of the API.
    if (!path.startsWith('/api/')) here.all(setsHeaders(headers))
    for (const route of those) {
      const handlers = [
        ...setErrorFormat(route, gateway),
        createAdmissionMiddleware(route, gateway),
        ...createBodyReader(route),
        createRouteHandler(route, gateway),
      ]
      here[verbOf(route)](...handlers)
    }
    here.all(rejectMethod(those))
  }
  return router
}

// Express has one function per method, with its name in lower case.
const verbOf = ({ method }: Route) => method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Returns middleware that records the route for log and metrics before the body is read, because reading can fail. */
const namesRoute =
  (path: string): RequestHandler<Record<string, string>> =>
  (_request, response, next) => {
    getExchange(response).route = path
    next()
  }

const setsHeaders =
  (headers: HeaderLines): RequestHandler<Record<string, string>> =>
  (_request, response, next) => {
    setFixedHeaders(response, headers)
    next()
  }

/** Returns middleware that sets the error format before admission, because admission can fail. */
const setErrorFormat = (route: Route, gateway: Gateway): RequestHandler<Record<string, string>>[] => {
  const { errorFormat, challenge } = route
  if (errorFormat === undefined && challenge === undefined) return []
  return [
    (request, response, next) => {
      const exchange = getExchange(response)
      exchange.errorFormat = errorFormat
      if (challenge) exchange.challenge = (shown) => challenge(request, gateway, shown)
      next()
    },
  ]
}

const rejectMethod = (routes: readonly Route[]): RequestHandler<Record<string, string>> => {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allowed = [...methods, 'OPTIONS'].join(', ')
  return (request, response) => {
    response.setHeader('Allow', allowed)
    if (request.method !== 'OPTIONS') {
      throw new HttpError(405, 'method-not-allowed', `method not allowed; allowed: ${allowed}`)
    }
    response.statusCode = 204
    response.end()
  }
}

const rejectUnknownPath: RequestHandler = () => {
  throw new ServiceError('not-found', 'path not found under /api; GET /api/v1/openapi.json lists all paths')
}

const rejectUnknownFile: RequestHandler = () => {
  throw new ServiceError('not-found', 'file not found')
}

/**
 * Returns request and response classes with the prototypes of the application. Otherwise Express replaces the
 * prototype of every request and response. V8 then deoptimizes them, and a small request takes 10 % longer.
 */
export const createMessageClasses = (
  application: Express,
): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> => {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, application.request)
  Object.setPrototypeOf(ExpressResponse.prototype, application.response)
  Object.assign(application, { request: ExpressRequest.prototype, response: ExpressResponse.prototype })
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
}

/** Headers that override the method. An upstream server might apply them although this product ignores them. */
const methodOverrideHeaders = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const

/** Pattern of a path segment without percent-encoding and without characters that an upstream server interprets. */
const name = String.raw`\w[\w.-]*`

/**
 * Returns middleware that rejects requests with 403 unless method and path match a route exactly. It protects the
 * replication service from unknown paths, `..`, escaped slashes and method override headers.
 */
const rejectUnlistedRequests = (routes: readonly Route[]): RequestHandler => {
  const listed = routes.map(({ method, path }) => ({
    path,
    methods: methodsOf(method),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, name)}$`),
  }))
  return (request, _response, next) => {
    const path = request.originalUrl.split('?', 1)[0] ?? ''
    // A path that equals a route without parameters matches only that route.
    const literal = listed.filter((route) => route.path === path)
    const fitting = literal.length > 0 ? literal : listed.filter(({ pattern }) => pattern.test(path))
    const isListed = fitting.some(({ methods }) => methods.includes(request.method))
    if (!isListed || methodOverrideHeaders.some((header) => request.headers[header] !== undefined)) {
      throw new ServiceError(
        'forbidden',
        'the replication service is read-only; allowed: the operations of the OpenAPI document',
      )
    }
    next()
  }
}

const methodsOf = (method: HttpMethod): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS']
