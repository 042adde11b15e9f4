import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from 'express'
import { z } from 'zod'
import type { CallContext, Feature, Identity } from '#proto/call.ts'
import type { PathParameter } from '#proto/http/parameters.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Gateway } from './gateway.ts'
import type { RateLimitBudget } from './limits/limits.ts'
import type { ErrorFormat, PublicError } from './response/http-exchange.ts'
import { parseRequestInput, type QueryValues } from './request/parse.ts'
import { hasPublicUrl } from './request/public-url.ts'
import type { ResponseCookies, Reply } from './response/http-reply.ts'
import type { Download } from './response/send.ts'
import type { RowStream } from './response/envelope.ts'

/**
 * The access that a route requires. `write` includes the agent and SQL of the caller. A route with `own-bearer` checks
 * a bearer token itself.
 */
export type RouteAccessLevel = 'anonymous' | 'read' | 'write' | 'own-bearer'
export type ExtraErrorStatus = 400 | 401 | 405 | 409 | 415 | 422
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An entry of the route table. */
export interface Route {
  method: HttpMethod
  /** Path in OpenAPI syntax, such as `/api/v1/charts/{name}`. */
  path: string
  /** Summary in the OpenAPI document: one sentence without a full stop. */
  doc: string
  /** Media types of the files that the route can return instead of its usual response. */
  downloads?: readonly string[] | undefined
  /** Required feature; null if there is none, or if the requested chart or table page defines it. */
  feature: Feature | null
  access: RouteAccessLevel
  limit: RateLimitBudget
  query: z.ZodType
  /** Schema of the request body; absent for routes without a body. */
  body?: z.ZodType
  /**
   * Accepts a form as the body, as OAuth requires. Never set it on a route that accepts cookies, because pages of
   * other sites can submit forms.
   */
  form?: boolean
  /** Allows guests of cloud mode, who have only a signed cookie. */
  guests?: boolean | undefined
  /**
   * For `own-bearer` routes: true if only a secret or a signature in the request gives access. Otherwise a session or
   * proxy headers can also identify the caller.
   */
  secretOnly?: boolean | undefined
  /** True if the route connects to an address supplied by the caller and accepts callers without credentials. */
  dials?: boolean | undefined
  answer: z.ZodType
  /** Media types and schema of the body, for routes that read it as bytes. */
  reads?: { mediaTypes: readonly string[]; schema: z.ZodType }
  /** Error statuses whose body is JSON-RPC, created by the service that handles the route. */
  jsonRpc?: readonly (ExtraErrorStatus | 404)[] | undefined
  /** Additional error statuses for the OpenAPI document. */
  refuses?: readonly ExtraErrorStatus[] | undefined
  /** Status of a successful response; 200 by default. */
  status?: number
  /** Media type of a successful response; JSON by default. */
  mediaType?: string | undefined
  /** Description of the 204 response. */
  nothing?: string
  /** Description of the 202 response. */
  taken?: string
  /** Sends an ETag, and 304 if the caller has the current response. */
  revalidated?: boolean | undefined
  /** Error format, if a standard requires its own. */
  errorFormat?: ErrorFormat
  /** Checks a precondition before the request counts towards the rate limit; throws if it is not met. */
  open?(request: Pick<RawRequest, 'headers' | 'query'>, env: Environment): void
  /** Replaces the default authentication of the route and returns the caller. */
  identify?(request: Request<Record<string, string>>, gateway: Gateway): Promise<Identity>
  /** Whether monitoring systems poll the route, so that its requests get a span only within a trace of the caller. */
  isPolled?: true
  /** Returns the WWW-Authenticate challenge of an error, if it differs from the default. */
  challenge?(request: Request<Record<string, string>>, gateway: Gateway, shown: PublicError): string | undefined
  respond(request: RawRequest, gateway: Gateway, reply: Reply): Promise<void>
}

/** A request before its parameters are validated. */
export interface RawRequest {
  path: Readonly<Record<string, string>>
  query: QueryValues
  body: unknown
  headers: IncomingHttpHeaders
  requestId: string
  call: CallContext
  preferred: ContentPreference
  /** Returns the public URL of the product, without a trailing slash. */
  publicUrl(): string
  /** Whether the request comes from this machine, through no proxy and from no page of another site. */
  isCallerLocal: boolean
  /** Reads the bytes of a body of any media type; throws 413 above `maxBytes`. */
  readBody(maxBytes: number): Promise<Buffer>
}

/** Returns the media type that the caller prefers: the first if all are equal, undefined if none is accepted. */
export type ContentPreference = (types: string[]) => string | undefined

/** A request as its handler receives it, validated. */
export interface RouteRequest<P extends string, Q, B = undefined> {
  path: Readonly<Record<PathParameter<P>, string>>
  query: Q
  body: B
  headers: IncomingHttpHeaders
  requestId: string
  call: CallContext
  preferred: ContentPreference
  publicUrl(): string
  isCallerLocal: boolean
}

interface Traits<P extends string, Q extends z.ZodType, A extends z.ZodType> {
  path: P
  doc: string
  downloads?: readonly string[]
  feature: Feature | null
  access: RouteAccessLevel
  limit: RateLimitBudget
  guests?: boolean
  secretOnly?: boolean
  dials?: boolean
  isPolled?: true
  refuses?: readonly ExtraErrorStatus[]
  query: Q
  answer: A
}

interface JsonRoute<P extends string, Q extends z.ZodType, A extends z.ZodType> extends Traits<P, Q, A> {
  /** Sends an ETag, so that callers can revalidate the response. */
  revalidated?: boolean
  mediaType?: string
  /**
   * How long shared caches may store the response. Ignored without a public URL, because the response then contains the
   * host of the request.
   */
  cacheForSeconds?: number
  handle(request: RouteRequest<P, z.output<Q>>, gateway: Gateway, cookies: ResponseCookies): Promise<z.input<A>>
}

const bodyless =
  (method: HttpMethod) =>
  <const P extends string, Q extends z.ZodType, A extends z.ZodType>(route: JsonRoute<P, Q, A>): Route => ({
    ...traits(route),
    method,
    mediaType: route.mediaType,
    revalidated: route.revalidated,
    respond: async (request, gateway, reply) => {
      const body = await route.handle({ ...parseRequest(route, request), body: undefined }, gateway, reply)
      if (route.cacheForSeconds !== undefined && hasPublicUrl(gateway.env)) reply.allowCaching(route.cacheForSeconds)
      if (route.revalidated) reply.revalidatedJson(body, route.mediaType)
      else reply.json(body, route.mediaType)
    },
  })

/** Defines a GET route that returns JSON. */
export const defineGetRoute = bodyless('GET')
/** Defines a DELETE route that returns JSON. */
export const defineDeleteRoute = bodyless('DELETE')

interface BodyRoute<P extends string, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> extends Traits<
  P,
  Q,
  A
> {
  body: B
  handle(
    request: RouteRequest<P, z.output<Q>, z.output<B>>,
    gateway: Gateway,
    cookies: ResponseCookies,
  ): Promise<z.input<A>>
}

const bodied =
  (method: HttpMethod) =>
  <const P extends string, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
    route: BodyRoute<P, Q, B, A>,
  ): Route => ({
    ...traits(route),
    method,
    body: route.body,
    respond: async (request, gateway, reply) => {
      const body = parseRequestInput(route.body, request.body)
      reply.json(await route.handle({ ...parseRequest(route, request), body }, gateway, reply))
    },
  })

/** Defines a POST route that reads and returns JSON. */
export const definePostRoute = bodied('POST')
/** Defines a PUT route that reads and returns JSON. */
export const definePutRoute = bodied('PUT')

/** `T` is the result of the handler: text, or gzipped text. */
interface TextRoute<P extends string, Q extends z.ZodType, T> extends Omit<Traits<P, Q, z.ZodType>, 'answer'> {
  mediaType: string
  handle(request: RouteRequest<P, z.output<Q>>, gateway: Gateway): Promise<T>
}

/** Defines a GET route that returns text. */
export const defineTextRoute = <const P extends string, Q extends z.ZodType>(
  definition: TextRoute<P, Q, string>,
): Route => {
  const route = { ...definition, answer: z.string() }
  return {
    ...traits(route),
    method: 'GET',
    mediaType: route.mediaType,
    respond: async (request, gateway, reply) => {
      reply.text(await route.handle({ ...parseRequest(route, request), body: undefined }, gateway), route.mediaType)
    },
  }
}

/** Defines a GET route that returns text, which the handler returns gzipped. */
export const defineGzippedRoute = <const P extends string, Q extends z.ZodType>(
  definition: TextRoute<P, Q, Buffer>,
): Route => {
  const route = { ...definition, answer: z.string() }
  return {
    ...traits(route),
    method: 'GET',
    mediaType: route.mediaType,
    respond: async (request, gateway, reply) => {
      await reply.gzipped(
        await route.handle({ ...parseRequest(route, request), body: undefined }, gateway),
        route.mediaType,
      )
    },
  }
}

/** A document as JSON, HTML or Markdown. */
type FormattedDocument<A extends z.ZodType> =
  | { format: 'json'; body: z.input<A> }
  | { format: 'html' | 'markdown'; text: string }

interface DocumentRoute<P extends string, Q extends z.ZodType, A extends z.ZodType> extends Traits<P, Q, A> {
  handle(request: RouteRequest<P, z.output<Q>>, gateway: Gateway): Promise<FormattedDocument<A>>
}

/** Defines a GET route that returns JSON, HTML or Markdown, as its handler decides. */
export const defineDocumentRoute = <const P extends string, Q extends z.ZodType, A extends z.ZodType>(
  route: DocumentRoute<P, Q, A>,
): Route => ({
  ...traits(route),
  method: 'GET',
  respond: async (request, gateway, reply) => {
    const result = await route.handle({ ...parseRequest(route, request), body: undefined }, gateway)
    if (result.format === 'json') reply.json(result.body)
    else if (result.format === 'html') reply.page(result.text)
    else reply.text(result.text, 'text/markdown; charset=utf-8')
  },
})

interface RedirectRoute<P extends string, Q extends z.ZodType> extends Omit<Traits<P, Q, z.ZodType>, 'answer'> {
  /** Returns the target: a path of the product, or a URL from the configuration. */
  handle(request: RouteRequest<P, z.output<Q>>, gateway: Gateway, cookies: ResponseCookies): Promise<string>
}

/** Defines a GET route that redirects. */
export const defineRedirectRoute = <const P extends string, Q extends z.ZodType>(
  definition: RedirectRoute<P, Q>,
): Route => {
  const route = { ...definition, answer: z.undefined() }
  return {
    ...traits(route),
    method: 'GET',
    respond: async (request, gateway, reply) => {
      reply.redirect(await route.handle({ ...parseRequest(route, request), body: undefined }, gateway, reply))
    },
  }
}

/** Schema of a response whose `data` are the streamed rows. The handler supplies the rows and the metadata. */
type RowsResponse = z.ZodObject<{ success: z.ZodType; data: z.ZodType; metadata: z.ZodType }>

interface RowsRoute<P extends string, Q extends z.ZodType, A extends RowsResponse> extends Traits<P, Q, A> {
  handle(
    request: RouteRequest<P, z.output<Q>>,
    gateway: Gateway,
  ): Promise<RowStream<z.input<A['shape']['metadata']>> | Download>
}

/** Defines a GET route that returns the rows of a host unparsed, in the usual response or as a file. */
export const defineRowsRoute = <const P extends string, Q extends z.ZodType, A extends RowsResponse>(
  route: RowsRoute<P, Q, A>,
): Route => ({
  ...traits(route),
  method: 'GET',
  respond: async (request, gateway, reply) => {
    const result = await route.handle({ ...parseRequest(route, request), body: undefined }, gateway)
    await ('fileName' in result ? reply.download(result) : reply.rows(result))
  },
})

const traits = <P extends string, Q extends z.ZodType, A extends z.ZodType>(route: Traits<P, Q, A>) => {
  const { path, doc, downloads, feature, access, limit, guests, secretOnly, dials, refuses, query, answer } = route
  return { path, doc, downloads, feature, access, limit, guests, secretOnly, dials, refuses, query, answer }
}

const parseRequest = <P extends string, Q extends z.ZodType, A extends z.ZodType>(
  route: Traits<P, Q, A>,
  request: RawRequest,
) => ({
  // The router matched this path, so every parameter in braces has a value.
  path: request.path as Readonly<Record<PathParameter<P>, string>>,
  query: parseRequestInput(route.query, request.query),
  headers: request.headers,
  requestId: request.requestId,
  call: request.call,
  preferred: request.preferred,
  publicUrl: request.publicUrl,
  isCallerLocal: request.isCallerLocal,
})
