import type { PathParameter } from '#proto/http/parameters.ts'
import { requestFile, requestJson, requestStream, type RequestOptions } from './request.ts'
import type { Routes } from './routes.ts'

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
type Place<R extends RouteName> = Field<'query', RouteParameters<R>> &
  ([PathParameter<R>] extends [never] ? unknown : { path: Record<PathParameter<R>, string> })

type CallInput<R extends RouteName> = Omit<RequestOptions, 'body' | 'method'> & Place<R> & Field<'body', RouteBody<R>>

/** The arguments of `call` after the route. */
export type CallArguments<R extends RouteName> = Optional<CallInput<R>>

type Optional<T> = object extends T ? [input?: T] : [input: T]

/** Calls a route and returns its JSON response, or rejects with a `RequestFailure`. */
export const call = <R extends RouteName>(route: R, ...[input]: CallArguments<R>): Promise<ResponseBody<R>> =>
  requestJson(addressOf(route, input), optionsOf(route, input))

/** Calls a route and returns its response as a file. */
export const callForFile = <R extends RouteName>(route: R, ...[input]: CallArguments<R>): Promise<Blob> =>
  requestFile(addressOf(route, input), optionsOf(route, input))

/** Calls a route and returns the response as soon as its headers arrive; null for 204. */
export const callForStream = <R extends RouteName>(route: R, ...[input]: CallArguments<R>): Promise<Response | null> =>
  requestStream(addressOf(route, input), optionsOf(route, input))

/** Returns the address of a route, for links. */
export const buildHref = <R extends RouteName>(route: R, ...[place]: Optional<Place<R>>): string =>
  addressOf(route, place)

interface Address {
  path?: Readonly<Record<string, string>>
  query?: object | undefined
}

/** Builds the URL of a request; parameters that are null or empty are omitted. */
const addressOf = (route: string, { path = {}, query = {} }: Address = {}): string => {
  const filled = route
    .slice(route.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(path[name] ?? ''))
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query)
  const search = new URLSearchParams(
    entries.flatMap(([name, value]) => (value == null || value === '' ? [] : [[name, String(value)]])),
  )
  return search.size === 0 ? filled : `${filled}?${search}`
}

const optionsOf = (route: string, options: RequestOptions = {}): RequestOptions => ({
  ...options,
  method: route.slice(0, route.indexOf(' ')),
})
