import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from 'express'
import { z } from 'zod'
import type { Call, Feature, Identity } from '#proto/call.ts'
import type { PathParameter } from '#proto/http/parameters.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Gateway } from './gateway.ts'
import type { Limit } from './limits/limits.ts'
import type { Refusal, Shown } from './response/http-exchange.ts'
import { parse, type QueryValues } from './request/parse.ts'
import { hasPublicUrl } from './request/public-url.ts'
import type { Cookies, Reply } from './response/http-reply.ts'
import type { Download } from './response/send.ts'
import type { Rows } from './response/envelope.ts'

/**
 * Who may call: anybody at all; whoever may read what the product shows; whoever may also change things, ask the agent or
 * run SQL of their own; or whoever knows the bearer that the route itself checks.
 */
export type Access = 'anonymous' | 'read' | 'write' | 'own-bearer'
export type ExtraRefusal = 400 | 401 | 405 | 409 | 415 | 422
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One entry of the table of routes. */
export interface Route {
  method: HttpMethod
  /** As OpenAPI writes it: `/api/v1/charts/{name}`. */
  path: string
  /** What it answers or does, in one sentence without a full stop. */
  doc: string
  /** Media types of the files that it gives instead of its usual answer. */
  downloads?: readonly string[] | undefined
  /** Null where the caller needs no feature, or where the definition that is asked for names it. */
  feature: Feature | null
  access: Access
  limit: Limit
  query: z.ZodType
  /** Of routes that read one. */
  body?: z.ZodType
  /** The body may be a form too, as OAuth sends it. Never where a cookie opens the door: any page may send forms. */
  form?: boolean
  /** Whether guests of cloud mode may call too, of whom nothing is known but a signed cookie. */
  guests?: boolean | undefined
  /**
   * Of an `own-bearer` route: whether a secret or a signature in the request is the only way in. Where it is not, a session or the
   * headers of a proxy may name the caller too.
   */
  secretOnly?: boolean | undefined
  /** Whether it connects, for callers without credentials too, to a place that they name. */
  dials?: boolean | undefined
  answer: z.ZodType
  /** Of a route that reads the bytes of its body by itself: what is in them. */
  reads?: { mediaTypes: readonly string[]; schema: z.ZodType }
  /** Statuses of failures that the service behind it words as JSON-RPC. */
  jsonRpc?: readonly (ExtraRefusal | 404)[] | undefined
  /** Statuses that it refuses with though its like do not. */
  refuses?: readonly ExtraRefusal[] | undefined
  /** Of a good answer; 200 where nothing else is said. */
  status?: number
  /** Of a good answer; JSON where nothing else is said. */
  mediaType?: string | undefined
  /** When there is nothing to answer, which 204 says. */
  nothing?: string
  /** When a message is taken and needs no answer, which 202 says. */
  taken?: string
  /** Whether a caller that still has the answer gets 304. */
  revalidated?: boolean | undefined
  /** How failures are worded where a standard has its own way. */
  refusal?: Refusal
  /** What must hold before a request is counted; throws when it does not. */
  open?(headers: IncomingHttpHeaders, env: Environment): void
  /** Who asks, where that is known in another way than elsewhere; whoever is let through may ask. */
  identify?(request: Request<Record<string, string>>, gateway: Gateway): Promise<Identity>
  /** What a failure says of signing in, if more than elsewhere. */
  challenge?(request: Request<Record<string, string>>, env: Environment, shown: Shown): string | undefined
  respond(given: Given, gateway: Gateway, reply: Reply): Promise<void>
}

/** A request as it came in. */
export interface Given {
  path: Readonly<Record<string, string>>
  query: QueryValues
  body: unknown
  headers: IncomingHttpHeaders
  requestId: string
  call: Call
  preferred: Preferred
  /** The address callers reach the product at, without a slash at its end. */
  publicUrl(): string
  /** The bytes of a body of whatever type, of a route that hands it on; throws 413 for a longer one. */
  readBody(maxBytes: number): Promise<Buffer>
}

/** Which of these media types the caller would rather have; the first when it does not mind, none when it wants none. */
export type Preferred = (types: string[]) => string | undefined

/** A request as its handler sees it: everything parsed. */
export interface Asked<P extends string, Q, B = undefined> {
  path: Readonly<Record<PathParameter<P>, string>>
  query: Q
  body: B
  headers: IncomingHttpHeaders
  requestId: string
  call: Call
  preferred: Preferred
  publicUrl(): string
}

interface Traits<P extends string, Q extends z.ZodType, A extends z.ZodType> {
  path: P
  doc: string
  downloads?: readonly string[]
  feature: Feature | null
  access: Access
  limit: Limit
  guests?: boolean
  secretOnly?: boolean
  dials?: boolean
  refuses?: readonly ExtraRefusal[]
  query: Q
  answer: A
}

interface JsonRoute<P extends string, Q extends z.ZodType, A extends z.ZodType> extends Traits<P, Q, A> {
  /** Callers may keep the answer and ask whether it still stands. */
  revalidated?: boolean
  mediaType?: string
  /** For how long anybody may keep the answer without asking again, where the public address is settled that it repeats. */
  keptForSeconds?: number
  handle(asked: Asked<P, z.output<Q>>, gateway: Gateway, cookies: Cookies): Promise<z.input<A>>
}

const bodyless =
  (method: HttpMethod) =>
  <const P extends string, Q extends z.ZodType, A extends z.ZodType>(route: JsonRoute<P, Q, A>): Route => ({
    ...traits(route),
    method,
    mediaType: route.mediaType,
    revalidated: route.revalidated,
    respond: async (given, gateway, reply) => {
      const body = await route.handle({ ...asked(route, given), body: undefined }, gateway, reply)
      if (route.keptForSeconds !== undefined && hasPublicUrl(gateway.env)) reply.mayBeKept(route.keptForSeconds)
      if (route.revalidated) reply.revalidatedJson(body, route.mediaType)
      else reply.json(body, route.mediaType)
    },
  })

/** A route that answers a GET with JSON. */
export const getRoute = bodyless('GET')
/** A route that removes something and answers with JSON. */
export const deleteRoute = bodyless('DELETE')

interface BodyRoute<P extends string, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> extends Traits<
  P,
  Q,
  A
> {
  body: B
  handle(asked: Asked<P, z.output<Q>, z.output<B>>, gateway: Gateway, cookies: Cookies): Promise<z.input<A>>
}

const bodied =
  (method: HttpMethod) =>
  <const P extends string, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
    route: BodyRoute<P, Q, B, A>,
  ): Route => ({
    ...traits(route),
    method,
    body: route.body,
    respond: async (given, gateway, reply) => {
      const body = parse(route.body, given.body)
      reply.json(await route.handle({ ...asked(route, given), body }, gateway, reply))
    },
  })

/** A route that reads a JSON body and answers with JSON. */
export const postRoute = bodied('POST')
/** A route that replaces something by the JSON body it reads. */
export const putRoute = bodied('PUT')

/** `T` is what the handler gives: text, or text that is gzipped already. */
interface TextRoute<P extends string, Q extends z.ZodType, T> extends Omit<Traits<P, Q, z.ZodType>, 'answer'> {
  mediaType: string
  handle(asked: Asked<P, z.output<Q>>, gateway: Gateway): Promise<T>
}

/** A route that answers a GET with text. */
export const textRoute = <const P extends string, Q extends z.ZodType>(given: TextRoute<P, Q, string>): Route => {
  const route = { ...given, answer: z.string() }
  return {
    ...traits(route),
    method: 'GET',
    mediaType: route.mediaType,
    respond: async (given, gateway, reply) => {
      reply.text(await route.handle({ ...asked(route, given), body: undefined }, gateway), route.mediaType)
    },
  }
}

/** A route that answers a GET with text that is kept gzipped. */
export const gzippedRoute = <const P extends string, Q extends z.ZodType>(given: TextRoute<P, Q, Buffer>): Route => {
  const route = { ...given, answer: z.string() }
  return {
    ...traits(route),
    method: 'GET',
    mediaType: route.mediaType,
    respond: async (given, gateway, reply) => {
      await reply.gzipped(await route.handle({ ...asked(route, given), body: undefined }, gateway), route.mediaType)
    },
  }
}

/** One thing in one of its forms. */
type InForm<A extends z.ZodType> = { format: 'json'; body: z.input<A> } | { format: 'html' | 'markdown'; text: string }

interface DocumentRoute<P extends string, Q extends z.ZodType, A extends z.ZodType> extends Traits<P, Q, A> {
  handle(asked: Asked<P, z.output<Q>>, gateway: Gateway): Promise<InForm<A>>
}

/** A route that answers a GET with JSON, with a page for people, or with Markdown, as its handler decides. */
export const documentRoute = <const P extends string, Q extends z.ZodType, A extends z.ZodType>(
  route: DocumentRoute<P, Q, A>,
): Route => ({
  ...traits(route),
  method: 'GET',
  respond: async (given, gateway, reply) => {
    const answered = await route.handle({ ...asked(route, given), body: undefined }, gateway)
    if (answered.format === 'json') reply.json(answered.body)
    else if (answered.format === 'html') reply.page(answered.text)
    else reply.text(answered.text, 'text/markdown; charset=utf-8')
  },
})

interface RedirectRoute<P extends string, Q extends z.ZodType> extends Omit<Traits<P, Q, z.ZodType>, 'answer'> {
  /** Where to: a path of ours, or an address that the operator named. */
  handle(asked: Asked<P, z.output<Q>>, gateway: Gateway, cookies: Cookies): Promise<string>
}

/** A route that sends a browser elsewhere. */
export const redirectRoute = <const P extends string, Q extends z.ZodType>(given: RedirectRoute<P, Q>): Route => {
  const route = { ...given, answer: z.undefined() }
  return {
    ...traits(route),
    method: 'GET',
    respond: async (given, gateway, reply) => {
      reply.redirect(await route.handle({ ...asked(route, given), body: undefined }, gateway, reply))
    },
  }
}

/** The body of an answer made of rows: all but them is what the handler says. */
type RowsAnswer = z.ZodObject<{ success: z.ZodType; data: z.ZodType; metadata: z.ZodType }>

interface RowsRoute<P extends string, Q extends z.ZodType, A extends RowsAnswer> extends Traits<P, Q, A> {
  handle(asked: Asked<P, z.output<Q>>, gateway: Gateway): Promise<Rows<z.input<A['shape']['metadata']>> | Download>
}

/** A route that answers a GET with rows handed on as the host sent them, in the envelope of answers or as a file. */
export const rowsRoute = <const P extends string, Q extends z.ZodType, A extends RowsAnswer>(
  route: RowsRoute<P, Q, A>,
): Route => ({
  ...traits(route),
  method: 'GET',
  respond: async (given, gateway, reply) => {
    const answered = await route.handle({ ...asked(route, given), body: undefined }, gateway)
    await ('fileName' in answered ? reply.download(answered) : reply.rows(answered))
  },
})

const traits = <P extends string, Q extends z.ZodType, A extends z.ZodType>(route: Traits<P, Q, A>) => {
  const { path, doc, downloads, feature, access, limit, guests, secretOnly, dials, refuses, query, answer } = route
  return { path, doc, downloads, feature, access, limit, guests, secretOnly, dials, refuses, query, answer }
}

const asked = <P extends string, Q extends z.ZodType, A extends z.ZodType>(route: Traits<P, Q, A>, given: Given) => ({
  // The router matched this very path, so every name between its braces has a value.
  path: given.path as Readonly<Record<PathParameter<P>, string>>,
  query: parse(route.query, given.query),
  headers: given.headers,
  requestId: given.requestId,
  call: given.call,
  preferred: given.preferred,
  publicUrl: given.publicUrl,
})
