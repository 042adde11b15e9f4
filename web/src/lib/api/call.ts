import {
  buildRoutePath,
  getRouteMethod,
  type OptionalArgument,
  type ResponseBody,
  type RouteInput,
  type RouteName,
  type RoutePlace,
} from '#proto/http/route.ts'
import { requestFile, requestJson, requestStream, type RequestOptions } from './request.ts'

export type { ResponseBody, RouteBody, RouteData, RouteName, RouteParameters } from '#proto/http/route.ts'

type CallInput<R extends RouteName> = Omit<RequestOptions, 'body' | 'method'> & RouteInput<R>

/** The arguments of `call` after the route. */
export type CallArguments<R extends RouteName> = OptionalArgument<CallInput<R>>

/** Calls a route and returns its JSON response, or rejects with a `RequestFailure`. */
export const call = <R extends RouteName>(route: R, ...[input]: CallArguments<R>): Promise<ResponseBody<R>> =>
  requestJson(buildRoutePath(route, input), optionsOf(route, input))

/** Calls a route and returns its response as a file. */
export const callForFile = <R extends RouteName>(route: R, ...[input]: CallArguments<R>): Promise<Blob> =>
  requestFile(buildRoutePath(route, input), optionsOf(route, input))

/** Calls a route and returns the response as soon as its headers arrive; null for 204. */
export const callForStream = <R extends RouteName>(route: R, ...[input]: CallArguments<R>): Promise<Response | null> =>
  requestStream(buildRoutePath(route, input), optionsOf(route, input))

/** Returns the address of a route, for links. */
export const buildHref = <R extends RouteName>(route: R, ...[place]: OptionalArgument<RoutePlace<R>>): string =>
  buildRoutePath(route, place)

const optionsOf = (route: string, options: RequestOptions = {}): RequestOptions => ({
  ...options,
  method: getRouteMethod(route),
})
