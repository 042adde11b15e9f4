import { queryOptions } from '@tanstack/svelte-query'
import { call, type CallArguments, type RouteName } from './call.ts'

/** Creates a query that calls a route. Its key consists of `about`, the route and the arguments. */
export const createRouteQuery = <R extends RouteName>(
  about: readonly unknown[],
  route: R,
  ...[input]: CallArguments<R>
) =>
  queryOptions({
    queryKey: [...about, route, input],
    // TypeScript cannot infer that adding `signal` keeps the arguments valid.
    queryFn: ({ signal }) => call(route, ...([{ ...input, signal }] as unknown as CallArguments<R>)),
  })
