import type { z } from 'zod'
import type { PathParameter } from './parameters.ts'
import type { createResponseSchema } from './response.ts'
import type { Routes } from './routes.ts'

/** The response, query parameters and request body of a route. */
export interface Route<
  A extends z.ZodType,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
> {
  response: z.output<A>
  query: Query<z.input<Q>, z.output<Q>>
  body: z.input<B>
}

/** A response that contains only `data`. */
export type DataResponse<D extends z.ZodType> = ReturnType<
  typeof createResponseSchema<D, z.ZodObject<Record<never, never>>>
>

type Primitive = string | number | boolean

/** Query parameters by name, as text or as parsed values. Parameters that are null are left out. */
type Query<I, O> = [I[keyof I]] extends [never]
  ? undefined
  : string extends keyof I
    ? Named<I, O> | URLSearchParams
    : Named<I, O>

type Named<I, O> = {
  [N in keyof I]: string extends N
    ? unknown
    : I[N] | (N extends keyof O ? Extract<O[N], Primitive> : never) | (undefined extends I[N] ? null : never)
}

/** A route by method and path, such as `GET /api/v1/charts/{name}`. */
export type RouteName = keyof Routes
/** The response body of a route. */
export type ResponseBody<R extends RouteName> = Routes[R]['response']
/** The `data` field of a route's response. */
export type RouteData<R extends RouteName> = ResponseBody<R> extends { data: infer D } ? D : never
/** The request body of a route. */
export type RouteBody<R extends RouteName> = Routes[R]['body']
/** The query parameters of a route. */
export type RouteParameters<R extends RouteName> = Routes[R]['query']

type Field<N extends string, T> = undefined extends T
  ? { [_ in N]?: T }
  : object extends T
    ? { [_ in N]?: T }
    : { [_ in N]: T }

/** The path and query parameters of a route. */
export type RoutePlace<R extends RouteName> = Field<'query', RouteParameters<R>> &
  ([PathParameter<R>] extends [never] ? unknown : { path: Record<PathParameter<R>, string> })

/** Everything that a request of a route contains. */
export type RouteInput<R extends RouteName> = RoutePlace<R> & Field<'body', RouteBody<R>>

/** The argument of a call, which may be omitted if it has no required field. */
export type OptionalArgument<T> = object extends T ? [input?: T] : [input: T]

interface Address {
  path?: Readonly<Record<string, string>>
  query?: object | undefined
}

/** Returns path and query of a route's URL. Parameters that are null or empty are omitted. */
export const buildRoutePath = (route: string, { path = {}, query = {} }: Address = {}): string => {
  const filled = route
    .slice(route.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(path[name] ?? ''))
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query)
  const search = new URLSearchParams()
  for (const [name, value] of entries) if (value != null && value !== '') search.append(name, String(value))
  return search.size === 0 ? filled : `${filled}?${search}`
}

/** Returns the HTTP method of a route. */
export const getRouteMethod = (route: string): string => route.slice(0, route.indexOf(' '))
