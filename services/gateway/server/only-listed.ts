import type { RequestHandler } from 'express'
import { ServiceError } from '#proto/errors.ts'
import type { HttpMethod, Route } from '../http-route.ts'

/** Ways of saying in a header that another method is meant. Nothing of ours reads them, and whoever sends one means no reading. */
const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const

/** A name within a path: nothing that means more to a server behind us, and so nothing escaped. */
const name = String.raw`\w[\w.-]*`

/**
 * Lets through what is a route, as it stands in the request line, and forbids the rest. For paths behind which another
 * service is asked: there an unknown path is no mistake to be pointed at but something that must not be asked, and
 * neither `..`, an escaped slash nor a method in a header may make another path of it.
 */
export const onlyListed = (routes: readonly Route[]): RequestHandler => {
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
