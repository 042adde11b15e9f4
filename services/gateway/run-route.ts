import type { RequestHandler, Response } from 'express'
import type { CallContext, Identity, W3cTraceContext } from '#proto/call.ts'
import type { Span } from '#shared/telemetry/telemetry.ts'
import { startChildSpan, toTraceContext } from '#shared/telemetry/tracing.ts'
import { parseBody, readBytes } from './request/read-body.ts'
import { openCallerHosts } from './connections/caller-hosts.ts'
import { getExchange, createClientClosedError } from './response/http-exchange.ts'
import { toPublicError } from './response/error-response.ts'
import { explainForbiddenError } from './features/authorization.ts'
import type { Gateway } from './gateway.ts'
import { isLocalCaller } from './request/local-caller.ts'
import { resolvePublicUrl } from './request/public-url.ts'
import { parseQueryString } from './request/parse.ts'
import { createReply } from './response/http-reply.ts'
import type { Route } from './http-route.ts'

/**
 * Returns the handler of a route: parses an admitted request, runs the route, sends the response and records a span.
 */
export const createRouteHandler =
  (route: Route, gateway: Gateway): RequestHandler<Record<string, string>> =>
  async (request, response) => {
    const { requestId, identity } = getExchange(response)
    if (identity === undefined) throw new Error(`request to "${route.path}" was not admitted`)
    const { tracer } = gateway.telemetry
    const parent = toTraceContext(request.headers)
    const name = `${request.method} ${route.path}`
    const attributes = {
      'http.request.method': request.method,
      'http.route': route.path,
      'http.request.id': requestId,
    }
    const span = route.isPolled
      ? startChildSpan(tracer, name, 'server', parent, attributes)
      : tracer.start(name, 'server', parent, attributes)
    try {
      const call = { ...callOf(identity, span.trace, response, gateway), connections: new Map() }
      const hosts = openCallerHosts(gateway, request.headers, call)
      const query = parseQueryString(request.url)
      const body = route.body && parseBody(request, route)
      const preferred = (types: string[]) => request.accepts(types) || undefined
      const raw = {
        path: request.params,
        query,
        body,
        headers: request.headers,
        requestId,
        call,
        preferred,
        publicUrl: () => resolvePublicUrl(request, gateway.env),
        isCallerLocal: isLocalCaller(request, gateway.env),
        readBody: (maxBytes: number) => readBytes(request, response, maxBytes),
      }
      await route.respond(raw, { ...gateway, hosts }, createReply(request, response))
      end(span, response.statusCode)
    } catch (thrown) {
      const error = explainForbiddenError(thrown, identity, gateway.policy())
      end(span, toPublicError(error).status, error)
      throw error
    }
  }

/** Ends the span; only 5xx statuses count as errors, because 4xx are mistakes of the caller. */
const end = (span: Span, status: number, error?: unknown): void => {
  span.set({ 'http.response.status_code': status })
  span.end(status >= 500 ? error : undefined)
}

/** Returns the call that is passed to other services; it is cancelled if the caller disconnects. */
const callOf = (
  identity: Identity,
  trace: W3cTraceContext | undefined,
  response: Response,
  gateway: Gateway,
): CallContext => {
  const left = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) left.abort(createClientClosedError())
  })
  const deadline = gateway.clock.elapsedMs() + gateway.requestTimeoutMs
  return { identity, deadline, signal: left.signal, priority: 'person', trace }
}
