import type { z } from 'zod'
import type { Call, Feature } from '#proto/call.ts'
import type { Gateway } from './gateway.ts'
import { parse } from './parse.ts'
import type { QueryValues } from './query-string.ts'
import type { Reply } from './reply.ts'
import type { Download } from './send-download.ts'
import type { Rows } from './send-rows.ts'

/**
 * Who may call: anybody at all; whoever may read what the product shows; whoever may also change things, ask the agent or
 * run SQL of their own; or whoever knows the bearer that the route itself checks.
 */
export type Access = 'anonymous' | 'read' | 'write' | 'own-bearer'
/** The budget that a request is counted against. */
export type Limit =
  | 'none'
  | 'data'
  | 'agent'
  | 'mcp'
  | 'browser-connection-test'
  | 'browser-connection-session'
  | 'device-login'
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One entry of the table of routes. */
export interface Route {
  method: HttpMethod
  /** As OpenAPI writes it: `/api/v1/charts/{name}`. */
  path: string
  /** Null where the caller needs no feature, or where the definition that is asked for names it. */
  feature: Feature | null
  access: Access
  limit: Limit
  query: z.ZodType
  /** Of routes that read one. */
  body?: z.ZodType
  answer: z.ZodType
  respond(given: Given, gateway: Gateway, reply: Reply): Promise<void>
}

/** A request as it came in. */
export interface Given {
  path: Readonly<Record<string, string>>
  query: QueryValues
  body: unknown
  call: Call
  preferred: Preferred
}

/** Which of these media types the caller would rather have; the first when it does not mind, none when it wants none. */
export type Preferred = (types: string[]) => string | undefined

/** A request as its handler sees it: everything parsed. */
export interface Asked<P extends string, Q, B = undefined> {
  path: Readonly<Record<PathParameter<P>, string>>
  query: Q
  body: B
  call: Call
  preferred: Preferred
}

/** Names between braces in a path. */
type PathParameter<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | PathParameter<Rest> : never

interface Traits<P extends string, Q extends z.ZodType, A extends z.ZodType> {
  path: P
  feature: Feature | null
  access: Access
  limit: Limit
  query: Q
  answer: A
}

interface JsonRoute<P extends string, Q extends z.ZodType, A extends z.ZodType> extends Traits<P, Q, A> {
  /** Callers may keep the answer and ask whether it still stands. */
  revalidated?: boolean
  handle(asked: Asked<P, z.output<Q>>, gateway: Gateway): Promise<z.input<A>>
}

const bodyless =
  (method: HttpMethod) =>
  <const P extends string, Q extends z.ZodType, A extends z.ZodType>(route: JsonRoute<P, Q, A>): Route => ({
    ...traits(route),
    method,
    respond: async (given, gateway, reply) => {
      const body = await route.handle({ ...asked(route, given), body: undefined }, gateway)
      if (route.revalidated) reply.revalidatedJson(body)
      else reply.json(body)
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
  handle(asked: Asked<P, z.output<Q>, z.output<B>>, gateway: Gateway): Promise<z.input<A>>
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
      reply.json(await route.handle({ ...asked(route, given), body }, gateway))
    },
  })

/** A route that reads a JSON body and answers with JSON. */
export const postRoute = bodied('POST')
/** A route that replaces something by the JSON body it reads. */
export const putRoute = bodied('PUT')

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
  const { path, feature, access, limit, query, answer } = route
  return { path, feature, access, limit, query, answer }
}

const asked = <P extends string, Q extends z.ZodType, A extends z.ZodType>(route: Traits<P, Q, A>, given: Given) => ({
  // The router matched this very path, so every name between its braces has a value.
  path: given.path as Readonly<Record<PathParameter<P>, string>>,
  query: parse(route.query, given.query),
  call: given.call,
  preferred: given.preferred,
})
