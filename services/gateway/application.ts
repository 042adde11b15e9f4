import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http'
import express, { type Express, type RequestHandler, type Router } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { admit } from './admission.ts'
import { admitsUnproven } from './auth/provider.ts'
import type { Gateway } from './gateway.ts'
import type { Route, HttpMethod } from './http-route.ts'
import { warnOfOtherAddressHeader } from './request/client-address.ts'
import { readerOf } from './request/read-body.ts'
import { answerFailure } from './response/answer-failure.ts'
import { HttpError, exchangeOf } from './response/http-exchange.ts'
import { dispatch } from './run-route.ts'
import { guardHosts } from './server/allowed-hosts.ts'
import { crossOrigin } from './server/cross-origin.ts'
import { receive, setAll } from './server/receive.ts'
import type { HeaderLines, SecurityHeaders } from './server/security-headers.ts'
import { serveUnbuiltPage, serveWeb } from './web/built-web.ts'

/** What the application serves besides its routes. */
interface Door {
  routes: readonly Route[]
  headers: SecurityHeaders
  /** The web build, and the headers of a page that has the inline scripts of a start page; undefined when there is none. */
  web: { directory: string; headersOf: (indexHtml: string) => HeaderLines } | undefined
}

/** The whole of HTTP: every request passes through here from top to bottom. */
export const openApplication = (gateway: Gateway, { routes, headers, web }: Door): Express => {
  const application = express()
  application.disable('x-powered-by')
  application.disable('etag')
  application.set('query parser', false)
  application.enable('case sensitive routing')

  application.use(receive(gateway.telemetry, headers))
  application.use(warnOfOtherAddressHeader(gateway.env, gateway.telemetry.log))
  application.use(guardHosts(routes, gateway.env, () => admitsUnproven(gateway.env, gateway.build)))
  application.use(crossOrigin(gateway.env))
  application.use('/api/v1/repldb', onlyListed(routes))
  application.use(byFamily(routes, (those) => routerOf(those, gateway, headers.api)))
  application.use(/^\/api(?=\/|$)/i, noSuchPath)
  application.use(web === undefined ? serveUnbuiltPage : serveWeb(web.directory, web.headersOf))
  application.use(noSuchFile)
  application.use(answerFailure(gateway.telemetry.log))
  return application
}

/** A router tries its routes one after the other, and there are too many for that: a request is looked for in its family alone. */
const byFamily = (routes: readonly Route[], routerOf: (those: readonly Route[]) => Router): RequestHandler => {
  const families = Map.groupBy(routes, ({ path }) => familyOf(path))
  const routers = new Map([...families].map(([family, those]) => [family, routerOf(those)]))
  return (request, response, next) => {
    const router = routers.get(familyOf(request.path))
    if (router) router(request, response, next)
    else next()
  }
}

/** The name that follows `/api/v1/` or `/api/`, in whose place no route has a parameter; all other paths are of one family. */
const familyOf = (path: string): string | undefined => /^\/api\/(?:v1\/)?([^/]+)/.exec(path)?.[1]

const routerOf = (routes: readonly Route[], gateway: Gateway, headers: HeaderLines): Router => {
  const router = express.Router({ caseSensitive: true })
  for (const [path, those] of Map.groupBy(routes, (route) => route.path)) {
    const here = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'))
    here.all(namesRoute(path))
    // What is answered outside /api is data like the rest, and no page.
    if (!path.startsWith('/api/')) here.all(setsHeaders(headers))
    for (const route of those) {
      const handlers = [
        ...refusalOf(route, gateway),
        admit(route, gateway),
        ...readerOf(route),
        dispatch(route, gateway),
      ]
      here[verbOf(route)](...handlers)
    }
    here.all(refuseMethod(those))
  }
  return router
}

// Lower case of the five methods is the name of express's five functions.
const verbOf = ({ method }: Route) => method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Lets log and metrics know the route before its body is read, which may already fail. */
const namesRoute =
  (path: string): RequestHandler<Record<string, string>> =>
  (_request, response, next) => {
    exchangeOf(response).route = path
    next()
  }

const setsHeaders =
  (headers: HeaderLines): RequestHandler<Record<string, string>> =>
  (_request, response, next) => {
    setAll(response, headers)
    next()
  }

/** Says how failures are worded before the request is let in, which may already fail. */
const refusalOf = (route: Route, { env }: Gateway): RequestHandler<Record<string, string>>[] => {
  const { refusal, challenge } = route
  if (refusal === undefined && challenge === undefined) return []
  return [
    (request, response, next) => {
      const exchange = exchangeOf(response)
      exchange.refusal = refusal
      if (challenge) exchange.challenge = (shown) => challenge(request, env, shown)
      next()
    },
  ]
}

const refuseMethod = (routes: readonly Route[]): RequestHandler<Record<string, string>> => {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allowed = [...methods, 'OPTIONS'].join(', ')
  return (request, response) => {
    response.setHeader('Allow', allowed)
    if (request.method !== 'OPTIONS') {
      throw new HttpError(405, 'method-not-allowed', `this path knows ${allowed}`)
    }
    response.statusCode = 204
    response.end()
  }
}

const noSuchPath: RequestHandler = () => {
  throw new ServiceError('not-found', 'no such path under /api')
}

const noSuchFile: RequestHandler = () => {
  throw new ServiceError('not-found', 'no such file')
}

/**
 * Lets a server make requests and answers that are the application's from the start. Express would give each of them another prototype
 * when it comes, after which everything that touches them is slower: a tenth of what a small request costs.
 */
export const messagesOf = (application: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> => {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, application.request)
  Object.setPrototypeOf(ExpressResponse.prototype, application.response)
  Object.assign(application, { request: ExpressRequest.prototype, response: ExpressResponse.prototype })
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
}

/** Ways of saying in a header that another method is meant. Nothing of ours reads them, and whoever sends one means no reading. */
const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const

/** A name within a path: nothing that means more to a server behind us, and so nothing escaped. */
const name = String.raw`\w[\w.-]*`

/**
 * Lets through what is a route, as it stands in the request line, and forbids the rest. For paths behind which another
 * service is asked: there an unknown path is no mistake to be pointed at but something that must not be asked, and
 * neither `..`, an escaped slash nor a method in a header may make another path of it.
 */
const onlyListed = (routes: readonly Route[]): RequestHandler => {
  const listed = routes.map(({ method, path }) => ({
    path,
    methods: methodsOf(method),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, name)}$`),
  }))
  return (request, _response, next) => {
    const path = request.originalUrl.split('?', 1)[0] ?? ''
    // A path that is a route word by word is that route alone, never the name of a thing in another one.
    const literal = listed.filter((route) => route.path === path)
    const fitting = literal.length > 0 ? literal : listed.filter(({ pattern }) => pattern.test(path))
    const isListed = fitting.some(({ methods }) => methods.includes(request.method))
    if (!isListed || overrides.some((header) => request.headers[header] !== undefined)) {
      throw new ServiceError(
        'forbidden',
        'the replication service is only read, and only at the paths of the API document',
      )
    }
    next()
  }
}

const methodsOf = (method: HttpMethod): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS']
