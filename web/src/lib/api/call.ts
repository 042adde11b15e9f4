import type { PathParameter } from '#proto/http/parameters.ts'
import { requestFile, requestJson, requestStream, type RequestOptions } from './request.ts'
import type { Routes } from './routes.ts'

/** A route by its method and path, such as `GET /api/v1/charts/{name}`. */
export type RouteName = keyof Routes
/** What a route answers. */
export type Answer<R extends RouteName> = Routes[R]['answer']
/** The `data` of what a route answers. */
export type Data<R extends RouteName> = Answer<R> extends { data: infer D } ? D : never
/** What a route takes in its body. */
export type Body<R extends RouteName> = Routes[R]['body']
/** What a route takes in its query. */
export type Query<R extends RouteName> = Routes[R]['query']

type Field<N extends string, T> = undefined extends T
  ? { [_ in N]?: T }
  : object extends T
    ? { [_ in N]?: T }
    : { [_ in N]: T }

/** What the address of a route needs. */
type Place<R extends RouteName> = Field<'query', Query<R>> &
  ([PathParameter<R>] extends [never] ? unknown : { path: Record<PathParameter<R>, string> })

type Given<R extends RouteName> = Omit<RequestOptions, 'body' | 'method'> & Place<R> & Field<'body', Body<R>>

/** What a call of a route takes besides its name. */
export type Arguments<R extends RouteName> = Optional<Given<R>>

type Optional<T> = object extends T ? [given?: T] : [given: T]

/** The JSON answer of a route, or a `RequestFailure`. */
export const call = <R extends RouteName>(route: R, ...[given]: Arguments<R>): Promise<Answer<R>> =>
  requestJson(addressOf(route, given), optionsOf(route, given))

/** The answer of a route as a file. */
export const callForFile = <R extends RouteName>(route: R, ...[given]: Arguments<R>): Promise<Blob> =>
  requestFile(addressOf(route, given), optionsOf(route, given))

/** The answer of a route while it comes; null where there is none. */
export const callForStream = <R extends RouteName>(route: R, ...[given]: Arguments<R>): Promise<Response | null> =>
  requestStream(addressOf(route, given), optionsOf(route, given))

/** The address of a route, for links. */
export const hrefOf = <R extends RouteName>(route: R, ...[place]: Optional<Place<R>>): string => addressOf(route, place)

interface Address {
  path?: Readonly<Record<string, string>>
  query?: object | undefined
}

/** Parameters that are null or empty are left out. */
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
